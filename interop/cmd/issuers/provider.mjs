// An issuer for tests: oidc-provider with two clients, "app", which gets tokens, and "agent", which may ask about them. A resource
// whose address ends with /opaque has tokens that say nothing, others have JWTs signed with ES256 or RS256.
import Provider from 'oidc-provider';
import { generateKeyPairSync, randomUUID } from 'node:crypto';

const jwk = (type, options, alg) => ({
  ...generateKeyPairSync(type, options).privateKey.export({ format: 'jwk' }), alg, use: 'sig', kid: randomUUID(),
});
const issuer = `http://127.0.0.1:${process.argv[2]}`;
const provider = new Provider(issuer, {
  jwks: { keys: [jwk('rsa', { modulusLength: 2048 }, 'RS256'), jwk('ec', { namedCurve: 'P-256' }, 'ES256')] },
  clients: [
    {
      client_id: 'app', client_secret: 'app-secret', grant_types: ['client_credentials'], redirect_uris: [], response_types: [],
      scope: 'ask run',
    },
    { client_id: 'agent', client_secret: 'agent-secret', grant_types: [], redirect_uris: [], response_types: [] },
  ],
  scopes: ['ask', 'run'],
  features: {
    devInteractions: { enabled: false },
    clientCredentials: { enabled: true },
    introspection: { enabled: true, allowedPolicy: () => true },
    revocation: { enabled: true, allowedPolicy: () => true },
    resourceIndicators: {
      enabled: true,
      getResourceServerInfo: (ctx, resource) => ({
        scope: 'ask run', audience: resource, accessTokenTTL: 300,
        accessTokenFormat: resource.endsWith('/opaque') ? 'opaque' : 'jwt',
        jwt: { sign: { alg: resource.endsWith('/ec') ? 'ES256' : 'RS256' } },
      }),
    },
  },
});
provider.listen(Number(process.argv[2]), '127.0.0.1', () => console.log('ready'));
