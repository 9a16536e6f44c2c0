// As call.mjs, with the SDK of 0.3.
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory, RestTransportFactory } from '@a2a-js/sdk/client';
import { GrpcTransportFactory } from '@a2a-js/sdk/client/grpc';

const MOMENT = 300; // ms, until a task that is subscribed to is canceled
const [url, , binding] = process.argv.slice(2);

const ownPart = ({ text, data, raw, url, name, type }) => {
  if (data) return { kind: 'data', data };
  if (raw) return { kind: 'file', file: { bytes: raw, name, mimeType: type } };
  if (url) return { kind: 'file', file: { uri: url, name, mimeType: type } };
  return { kind: 'text', text };
};
const toldPart = ({ text, data, file }) => ({ text, data, raw: file?.bytes, url: file?.uri, name: file?.name, type: file?.mimeType });
const toldParts = (parts = []) => parts.map(toldPart);
const text = (parts = []) => parts.map((part) => part.text ?? '').join('');
const toldTask = ({ id, contextId: context, status, artifacts = [] }) => ({
  task: {
    id,
    context,
    state: status.state,
    asks: text(status.message?.parts),
    parts: artifacts.flatMap((artifact) => toldParts(artifact.parts)),
  },
});
const toldEvent = (event) => {
  if (event.kind === 'task') return { kind: 'task', state: event.status.state };
  if (event.kind === 'message') return { kind: 'message', text: text(event.parts) };
  if (event.kind === 'status-update') return { kind: 'status', state: event.status.state };
  return { kind: 'artifact', text: text(event.artifact.parts) };
};
const toldHook = ({ pushNotificationConfig: { id, url, token } }) => ({ id, url, token });
const skills = (card) => ({ skills: card.skills.map((skill) => skill.id) });

const request = ({ parts, task, context, now = false }) => ({
  message: { kind: 'message', messageId: crypto.randomUUID(), role: 'user', parts: parts.map(ownPart), taskId: task, contextId: context },
  configuration: { blocking: !now },
});

async function events(stream) {
  const told = [];
  for await (const event of stream) told.push(toldEvent(event));
  return { events: told };
}

const card = await new DefaultAgentCardResolver().resolve(url);
const factories = { JSONRPC: JsonRpcTransportFactory, 'HTTP+JSON': RestTransportFactory, GRPC: GrpcTransportFactory };
const agent = await new ClientFactory({ transports: [new factories[binding]()] }).createFromAgentCard(card);

const operations = {
  card: async () => skills(card),
  send: async (ask) => {
    const answer = await agent.sendMessage(request(ask));
    return answer.kind === 'message' ? { message: toldParts(answer.parts) } : toldTask(answer);
  },
  stream: (ask) => events(agent.sendMessageStream(request(ask))),
  get: async ({ task }) => toldTask(await agent.getTask({ id: task })),
  cancel: async ({ task }) => toldTask(await agent.cancelTask({ id: task })),
  subscribe: async ({ task }) => {
    const canceling = setTimeout(MOMENT).then(() => agent.cancelTask({ id: task }));
    const told = await events(agent.resubscribeTask({ id: task }));
    await canceling;
    return told;
  },
  'create hook': async ({ task, hook }) => ({
    hooks: [toldHook(await agent.setTaskPushNotificationConfig({ taskId: task, pushNotificationConfig: hook }))],
  }),
  'get hook': async ({ task, hook }) => ({
    hooks: [toldHook(await agent.getTaskPushNotificationConfig({ id: task, pushNotificationConfigId: hook.id }))],
  }),
  'list hooks': async ({ task }) => ({ hooks: (await agent.listTaskPushNotificationConfig({ id: task })).map(toldHook) }),
  'delete hook': async ({ task, hook }) => {
    await agent.deleteTaskPushNotificationConfig({ id: task, pushNotificationConfigId: hook.id });
    return {};
  },
  'extended card': async () => skills(await agent.transport.getExtendedAgentCard()),
};

for await (const line of createInterface({ input: process.stdin })) {
  const ask = JSON.parse(line);
  const answer = await operations[ask.op](ask).catch((e) => ({ error: `${e.constructor.name}: ${e.message}` }));
  console.log(JSON.stringify(answer));
}
process.exit(0);
