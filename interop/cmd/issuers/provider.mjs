// An issuer for tests: oidc-provider with clients "app", which gets tokens, "agent", which may ask about them, and "cli", at which people
// log in: everybody is ann, and agrees. A resource whose address ends with /opaque has tokens that say nothing, others have JWTs signed with ES256 or RS256.
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
    {
      client_id: 'cli', token_endpoint_auth_method: 'none', application_type: 'native', redirect_uris: ['http://127.0.0.1/callback'],
      response_types: ['code'], grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
      scope: 'openid offline_access ask run',
    },
    { client_id: 'agent', client_secret: 'agent-secret', grant_types: [], redirect_uris: [], response_types: [] },
  ],
  scopes: ['openid', 'offline_access', 'ask', 'run'],
  findAccount: (ctx, accountId) => ({ accountId, claims: () => ({ sub: accountId }) }),
  interactions: { url: (ctx, interaction) => `/interaction/${interaction.uid}` },
  pkce: { required: () => true },
  rotateRefreshToken: true,
  issueRefreshToken: async () => true,
  features: {
    devInteractions: { enabled: false },
    clientCredentials: { enabled: true },
    deviceFlow: { enabled: true },
    introspection: { enabled: true, allowedPolicy: () => true },
    revocation: { enabled: true, allowedPolicy: () => true },
    resourceIndicators: {
      enabled: true,
      useGrantedResource: () => true,
      getResourceServerInfo: (ctx, resource) => ({
        scope: 'ask run', audience: resource, accessTokenTTL: 300,
        accessTokenFormat: resource.endsWith('/opaque') ? 'opaque' : 'jwt',
        jwt: { sign: { alg: resource.endsWith('/ec') ? 'ES256' : 'RS256' } },
      }),
    },
  },
});
provider.use(async (ctx, next) => {
  if (!ctx.path.startsWith('/interaction/')) return next();
  const { prompt, params, grantId } = await provider.interactionDetails(ctx.req, ctx.res);
  if (prompt.name === 'login') return provider.interactionFinished(ctx.req, ctx.res, { login: { accountId: 'ann' } });
  const grant = grantId ? await provider.Grant.find(grantId) : new provider.Grant({ accountId: 'ann', clientId: params.client_id });
  for (const scope of prompt.details.missingOIDCScope ?? []) grant.addOIDCScope(scope);
  for (const [resource, scopes] of Object.entries(prompt.details.missingResourceScopes ?? {})) grant.addResourceScope(resource, scopes.join(' '));
  return provider.interactionFinished(ctx.req, ctx.res, { consent: { grantId: await grant.save() } }, { mergeWithLastSubmission: true });
});
provider.listen(Number(process.argv[2]), '127.0.0.1', () => console.log('ready'));
