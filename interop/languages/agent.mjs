// Is the agent that package desk describes, over all bindings of 1.0 and 0.3. Prints its URL, and ends when its input does.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { AgentCard, Artifact, Message, Role, Task, TaskState, TaskStatusUpdateEvent } from '@a2a-js/sdk';
import { duplicateInterfacesForLegacy } from '@a2a-js/sdk/compat/v0_3';
import { LegacyA2AService, legacyGrpcService } from '@a2a-js/sdk/compat/v0_3/server/grpc';
import { AgentEvent, DefaultRequestHandler, InMemoryPushNotificationStore, InMemoryTaskStore } from '@a2a-js/sdk/server';
import { agentCardHandler, jsonRpcHandler, restHandler, UserBuilder } from '@a2a-js/sdk/server/express';
import { A2AService, grpcService } from '@a2a-js/sdk/server/grpc';
import express from 'express';

const LINES = [0, 1, 2, 3, 4].map((i) => `line ${i}\n`);

// Desk does what the first word of a message says.
class Desk {
  waiting = new Map(); // what ends the work on a task

  async execute({ userMessage, taskId, contextId, task }, bus) {
    const ids = { taskId, contextId };
    const textPart = (text) => ({ text });
    const said = (text) => Message.fromJSON({ messageId: crypto.randomUUID(), role: 'ROLE_AGENT', parts: [textPart(text)], ...ids });
    const status = (state, text) =>
      bus.publish(AgentEvent.statusUpdate({ ...TaskStatusUpdateEvent.fromJSON({ ...ids, status: { state } }), status: { state, message: text && said(text), timestamp: new Date().toISOString() } }));
    const artifact = (parts, append = false, artifactId = 'story') =>
      bus.publish(AgentEvent.artifactUpdate({ ...ids, artifact: { ...Artifact.fromJSON({ artifactId }), parts }, append, lastChunk: false, metadata: undefined }));
    const texts = (text) => [{ content: { $case: 'text', value: text }, mediaType: '', filename: '', metadata: undefined }];

    const word = userMessage.parts[0].content.value;
    if (word === 'hello') {
      bus.publish(AgentEvent.message({ ...said('Good morning.'), taskId: '' }));
      return bus.finished();
    }
    bus.publish(AgentEvent.task(task ?? { ...Task.fromJSON({ id: taskId, contextId, status: { state: TaskState.TASK_STATE_SUBMITTED } }), history: [userMessage] }));
    if (task) {
      artifact(texts(`Booked for ${word}.`));
      status(TaskState.TASK_STATE_COMPLETED);
      return bus.finished();
    }
    status(TaskState.TASK_STATE_WORKING, 'Looking at the map.');
    if (word === 'book') {
      status(TaskState.TASK_STATE_INPUT_REQUIRED, 'For which day?');
      return bus.finished();
    }
    if (word === 'wait') return new Promise((done) => this.waiting.set(taskId, { done, contextId }));
    if (word === 'forecast') artifact(texts('Dry until ten, then "showers" – 11 °C.'));
    if (word === 'echo') artifact(userMessage.parts);
    if (word === 'tell') LINES.forEach((line, i) => artifact(texts(line), i > 0));
    status(TaskState.TASK_STATE_COMPLETED);
    bus.finished();
  }

  async cancelTask(taskId, bus) {
    const { done, contextId } = this.waiting.get(taskId) ?? {};
    const state = TaskState.TASK_STATE_CANCELED;
    bus.publish(AgentEvent.statusUpdate(TaskStatusUpdateEvent.fromJSON({ taskId, contextId, status: { state, timestamp: new Date().toISOString() } })));
    bus.finished();
    done?.();
  }
}

const skill = (id) => ({ id, name: id, description: 'Answers.', tags: ['travel'] });
const cardOf = (base, address, more = []) => {
  const card = AgentCard.fromJSON({
    name: 'Interop Desk',
    description: 'Answers travellers.',
    version: '1.0.0',
    supportedInterfaces: [
      { url: `${base}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
      { url: `${base}/rest`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
      { url: address, protocolBinding: 'GRPC', protocolVersion: '1.0' },
    ],
    capabilities: { streaming: true, pushNotifications: true, extendedAgentCard: true },
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: ['desk', ...more].map(skill),
  });
  card.supportedInterfaces = duplicateInterfacesForLegacy(card.supportedInterfaces, ['JSONRPC', 'HTTP+JSON', 'GRPC']);
  return card;
};

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
const options = { requestHandler, userBuilder: UserBuilder.noAuthentication, legacyCompat: { enabled: true } };
app.use('/.well-known/agent-card.json', agentCardHandler({ agentCardProvider: requestHandler, legacyCompat: { enabled: true } }));
app.use('/rpc', jsonRpcHandler(options));
app.use('/rest', restHandler(options));
rpc.addService(A2AService, grpcService(options));
rpc.addService(LegacyA2AService, legacyGrpcService(options));
console.log(base);
process.stdin.on('end', () => process.exit(0)).resume();
