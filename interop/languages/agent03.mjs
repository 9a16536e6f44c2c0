// As agent.mjs, with the SDK of 0.3.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { DefaultRequestHandler, InMemoryPushNotificationStore, InMemoryTaskStore } from '@a2a-js/sdk/server';
import { agentCardHandler, jsonRpcHandler, restHandler, UserBuilder } from '@a2a-js/sdk/server/express';
import { A2AService, grpcService, UserBuilder as RpcUserBuilder } from '@a2a-js/sdk/server/grpc';
import express from 'express';

const LINES = [0, 1, 2, 3, 4].map((i) => `line ${i}\n`);
const textPart = (text) => ({ kind: 'text', text });

// Desk does what the first word of a message says.
class Desk {
  waiting = new Map(); // what ends the work on a task

  async execute({ userMessage, taskId, contextId, task }, bus) {
    const ids = { taskId, contextId };
    const said = (text, more) => ({ kind: 'message', messageId: crypto.randomUUID(), role: 'agent', parts: [textPart(text)], contextId, ...more });
    const status = (state, final, text) =>
      bus.publish({ kind: 'status-update', ...ids, status: { state, message: text && said(text, ids), timestamp: new Date().toISOString() }, final });
    const artifact = (parts, append = false) => bus.publish({ kind: 'artifact-update', ...ids, artifact: { artifactId: 'story', parts }, append });

    const word = userMessage.parts[0].text;
    if (word === 'hello') {
      bus.publish(said('Good morning.'));
      return bus.finished();
    }
    if (task) {
      artifact([textPart(`Booked for ${word}.`)]);
      status('completed', true);
      return bus.finished();
    }
    bus.publish({ kind: 'task', id: taskId, contextId, status: { state: 'submitted' }, history: [userMessage] });
    status('working', false, 'Looking at the map.');
    if (word === 'book') {
      status('input-required', true, 'For which day?');
      return bus.finished();
    }
    if (word === 'wait') return new Promise((done) => this.waiting.set(taskId, { done, contextId }));
    if (word === 'forecast') artifact([textPart('Dry until ten, then "showers" – 11 °C.')]);
    if (word === 'echo') artifact(userMessage.parts);
    if (word === 'tell') LINES.forEach((line, i) => artifact([textPart(line)], i > 0));
    status('completed', true);
    bus.finished();
  }

  async cancelTask(taskId, bus) {
    const { done, contextId } = this.waiting.get(taskId) ?? {};
    bus.publish({ kind: 'status-update', taskId, contextId, status: { state: 'canceled', timestamp: new Date().toISOString() }, final: true });
    bus.finished();
    done?.();
  }
}

const skill = (id) => ({ id, name: id, description: 'Answers.', tags: ['travel'] });
const cardOf = (base, address, more = []) => ({
  name: 'Interop Desk',
  description: 'Answers travellers.',
  version: '1.0.0',
  protocolVersion: '0.3.0',
  url: `${base}/rpc`,
  preferredTransport: 'JSONRPC',
  additionalInterfaces: [
    { url: `${base}/rest`, transport: 'HTTP+JSON' },
    { url: address, transport: 'GRPC' },
  ],
  capabilities: { streaming: true, pushNotifications: true },
  supportsAuthenticatedExtendedCard: true,
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: ['desk', ...more].map(skill),
});

const app = express();
const web = createServer(app).listen(0, '127.0.0.1');
await once(web, 'listening');
const base = `http://127.0.0.1:${web.address().port}`;
const rpc = new Server();
const port = await new Promise((done, fail) =>
  rpc.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (e, port) => (e ? fail(e) : done(port))),
);
const address = `127.0.0.1:${port}`;
const requestHandler = new DefaultRequestHandler(
  cardOf(base, address),
  new InMemoryTaskStore(),
  new Desk(),
  undefined,
  new InMemoryPushNotificationStore(),
  undefined,
  async () => cardOf(base, address, ['vip']), // a card itself would be for authenticated callers
);
app.use('/.well-known/agent-card.json', agentCardHandler({ agentCardProvider: requestHandler }));
app.use('/rpc', jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication }));
app.use('/rest', restHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication }));
rpc.addService(A2AService, grpcService({ requestHandler, userBuilder: RpcUserBuilder.noAuthentication }));
console.log(base);
process.stdin.on('end', () => process.exit(0)).resume();
