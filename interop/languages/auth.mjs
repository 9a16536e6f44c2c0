// Is a client with the SDK's hook for credentials. Reads whom to call, and with what, as lines of JSON, and prints an answer for
// each. The SDK does not read what the card demands: that is done here, as a caller has to by hand.
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { Message } from '@a2a-js/sdk';
import {
  ClientFactory, createAuthenticatingFetchWithRetry, DefaultAgentCardResolver, JsonRpcTransportFactory, RestTransportFactory,
} from '@a2a-js/sdk/client';
import { GrpcTransportFactory } from '@a2a-js/sdk/client/grpc';
import grpc from '@grpc/grpc-js';
import { Agent, fetch as fetchOverTLS } from 'undici';

// connections are how agents are reached over HTTP and gRPC.
function connections({ ca, cert, key }) {
  if (!ca) return { web: fetch, dial: grpc.credentials.createInsecure() };
  const read = (path) => (path ? readFileSync(path) : null);
  const dispatcher = new Agent({ connect: { ca: read(ca), cert: read(cert) ?? undefined, key: read(key) ?? undefined } });
  return {
    web: (url, init) => fetchOverTLS(url, { ...init, dispatcher }),
    dial: grpc.credentials.createSsl(read(ca), read(key), read(cert)),
  };
}

// placed is where the card wants credentials to be: headers, and members of the query.
function placed(card, secrets) {
  const headers = {}, query = {};
  for (const [name, secret] of Object.entries(secrets ?? {})) {
    const { $case, value } = card.securitySchemes[name].scheme;
    if ($case === 'apiKeySecurityScheme' && value.location === 'query') query[value.name] = secret;
    else if ($case === 'apiKeySecurityScheme' && value.location === 'cookie') headers.Cookie = `${value.name}=${secret}`;
    else if ($case === 'apiKeySecurityScheme') headers[value.name] = secret;
    else if (value.scheme?.toLowerCase() === 'basic') headers.Authorization = `Basic ${btoa(secret)}`;
    else headers.Authorization = `Bearer ${secret}`;
  }
  return { headers, query };
}

async function call({ url, version, binding, stream, secrets, ...files }) {
  const { web, dial } = connections(files);
  const legacyCompat = { enabled: true };
  const resolver = new DefaultAgentCardResolver({ fetchImpl: web, ...(version === '0.3' ? { legacyCompat } : {}) });
  const card = await resolver.resolve(url);
  card.supportedInterfaces = card.supportedInterfaces.filter(
    (i) => i.protocolBinding === binding && i.protocolVersion.startsWith(version),
  );
  const { headers, query } = placed(card, secrets);
  const asked = (at, init) => web(Object.keys(query).length ? `${at}?${new URLSearchParams(query)}` : at, init);
  const fetchImpl = createAuthenticatingFetchWithRetry(asked, {
    headers: async () => ({}),
    shouldRetryWithHeaders: async (_, { status }) => (status === 401 && Object.keys(headers).length ? headers : undefined),
  });
  const agent = await new ClientFactory({
    transports: [
      new JsonRpcTransportFactory({ legacyCompat, fetchImpl }),
      new RestTransportFactory({ legacyCompat, fetchImpl }),
      new GrpcTransportFactory({ legacyCompat, grpcChannelCredentials: dial }),
    ],
    cardResolver: resolver,
  }).createFromAgentCard(card);
  const message = Message.fromJSON({ messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: stream ? 'tell' : 'hello' }] });
  const options = binding === 'GRPC' ? { serviceParameters: headers } : {};
  if (!stream) {
    const answer = await agent.sendMessage({ tenant: '', message }, options);
    return { message: answer.parts.map((part) => ({ text: part.content.value })) };
  }
  const events = [];
  for await (const { payload: { $case, value } } of agent.sendMessageStream({ tenant: '', message }, options)) {
    if ($case === 'artifactUpdate') events.push({ kind: 'artifact', text: value.artifact.parts.map((part) => part.content.value).join('') });
  }
  return { events };
}

const told = (e) => ({ error: `${e.constructor.name}: ${e.message} ${e.statusCode ?? e.envelopeCode ?? ''} ${e.cause?.message ?? ''}` });

for await (const line of createInterface({ input: process.stdin })) {
  const answer = await call(JSON.parse(line)).catch(told);
  console.log(JSON.stringify(answer));
}
process.exit(0);
