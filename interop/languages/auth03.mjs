// As auth.mjs, with the SDK of 0.3.
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
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
    const scheme = card.securitySchemes[name];
    if (scheme.type === 'apiKey' && scheme.in === 'query') query[scheme.name] = secret;
    else if (scheme.type === 'apiKey' && scheme.in === 'cookie') headers.Cookie = `${scheme.name}=${secret}`;
    else if (scheme.type === 'apiKey') headers[scheme.name] = secret;
    else if (scheme.scheme?.toLowerCase() === 'basic') headers.Authorization = `Basic ${btoa(secret)}`;
    else headers.Authorization = `Bearer ${secret}`;
  }
  return { headers, query };
}

async function call({ url, binding, stream, secrets, ...files }) {
  const { web, dial } = connections(files);
  const card = await new DefaultAgentCardResolver({ fetchImpl: web }).resolve(url);
  const { headers, query } = placed(card, secrets);
  const asked = (at, init) => web(Object.keys(query).length ? `${at}?${new URLSearchParams(query)}` : at, init);
  const fetchImpl = createAuthenticatingFetchWithRetry(asked, {
    headers: async () => ({}),
    shouldRetryWithHeaders: async (_, { status }) => (status === 401 && Object.keys(headers).length ? headers : undefined),
  });
  const transports = {
    JSONRPC: () => new JsonRpcTransportFactory({ fetchImpl }),
    'HTTP+JSON': () => new RestTransportFactory({ fetchImpl }),
    GRPC: () => new GrpcTransportFactory({ grpcChannelCredentials: dial }),
  };
  const agent = await new ClientFactory({ transports: [transports[binding]()] }).createFromAgentCard(card);
  const message = { kind: 'message', messageId: crypto.randomUUID(), role: 'user', parts: [{ kind: 'text', text: stream ? 'tell' : 'hello' }] };
  const options = binding === 'GRPC' ? { serviceParameters: headers } : {};
  if (!stream) {
    const answer = await agent.sendMessage({ message }, options);
    return { message: answer.parts.map(({ text }) => ({ text })) };
  }
  const events = [];
  for await (const { kind, artifact } of agent.sendMessageStream({ message }, options)) {
    if (kind === 'artifact-update') events.push({ kind: 'artifact', text: artifact.parts.map(({ text }) => text).join('') });
  }
  return { events };
}

const told = (e) => ({ error: `${e.constructor.name}: ${e.message} ${e.statusCode ?? e.envelopeCode ?? ''} ${e.cause?.message ?? ''}` });

for await (const line of createInterface({ input: process.stdin })) {
  const answer = await call(JSON.parse(line)).catch(told);
  console.log(JSON.stringify(answer));
}
process.exit(0);
