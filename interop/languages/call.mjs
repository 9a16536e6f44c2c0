// Is a client of the agent at a URL, of a version, over a binding: these are the arguments. Reads what to do as lines of JSON, and
// prints an answer for each.
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { ListTaskPushNotificationConfigsRequest, ListTasksRequest, Message, Part, SendMessageConfiguration, taskStateToJSON } from '@a2a-js/sdk';
import { ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory, RestTransportFactory } from '@a2a-js/sdk/client';
import { GrpcTransportFactory } from '@a2a-js/sdk/client/grpc';

const MOMENT = 300; // ms, until a task that is subscribed to is canceled
const [url, version, binding] = process.argv.slice(2);

const toldPart = (part) => {
  const { filename: name, mediaType: type, ...content } = Part.toJSON(part);
  return { name, type, ...content };
};
const toldParts = (parts = []) => parts.map(toldPart);
const text = (parts = []) => parts.map((part) => (part.content?.$case === 'text' ? part.content.value : '')).join('');
const toldTask = ({ id, contextId: context, status, artifacts = [] }) => ({
  task: {
    id,
    context,
    state: taskStateToJSON(status.state),
    asks: text(status.message?.parts),
    parts: artifacts.flatMap((artifact) => toldParts(artifact.parts)),
  },
});
const toldEvent = ({ payload: { $case, value } }) => {
  if ($case === 'task') return { kind: 'task', state: taskStateToJSON(value.status.state) };
  if ($case === 'message') return { kind: 'message', text: text(value.parts) };
  if ($case === 'statusUpdate') return { kind: 'status', state: taskStateToJSON(value.status.state) };
  return { kind: 'artifact', text: text(value.artifact.parts) };
};
const toldHook = ({ id, url, token }) => ({ id, url, token });
const skills = (card) => ({ skills: card.skills.map((skill) => skill.id) });

const request = ({ parts, task = '', context = '', now = false }) => ({
  tenant: '',
  message: Message.fromJSON({
    messageId: crypto.randomUUID(),
    role: 'ROLE_USER',
    parts: parts.map(({ name, type, ...content }) => ({ filename: name, mediaType: type, ...content })),
    taskId: task,
    contextId: context,
  }),
  configuration: SendMessageConfiguration.fromJSON({ returnImmediately: now }),
});

async function events(stream) {
  const told = [];
  for await (const event of stream) told.push(toldEvent(event));
  return { events: told };
}

const legacyCompat = { enabled: true };
const resolver = new DefaultAgentCardResolver(version === '0.3' ? { legacyCompat } : {});
const card = await resolver.resolve(url);
card.supportedInterfaces = card.supportedInterfaces.filter(
  (i) => i.protocolBinding === binding && i.protocolVersion.startsWith(version),
);
const agent = await new ClientFactory({
  transports: [
    new JsonRpcTransportFactory({ legacyCompat }),
    new RestTransportFactory({ legacyCompat }),
    new GrpcTransportFactory({ legacyCompat }),
  ],
  cardResolver: resolver,
}).createFromAgentCard(card);

const operations = {
  card: async () => skills(card),
  send: async (ask) => {
    const answer = await agent.sendMessage(request(ask));
    return answer.messageId ? { message: toldParts(answer.parts) } : toldTask(answer);
  },
  stream: (ask) => events(agent.sendMessageStream(request(ask))),
  get: async ({ task }) => toldTask(await agent.getTask({ tenant: '', id: task })),
  list: async ({ context }) => ({ tasks: (await agent.listTasks(ListTasksRequest.fromJSON({ contextId: context }))).tasks.map((task) => task.id) }),
  cancel: async ({ task }) => toldTask(await agent.cancelTask({ tenant: '', id: task })),
  subscribe: async ({ task }) => {
    const canceling = setTimeout(MOMENT).then(() => agent.cancelTask({ tenant: '', id: task }));
    const told = await events(agent.resubscribeTask({ tenant: '', id: task }));
    await canceling;
    return told;
  },
  'create hook': async ({ task, hook }) => ({
    hooks: [toldHook(await agent.createTaskPushNotificationConfig({ tenant: '', taskId: task, ...hook }))],
  }),
  'get hook': async ({ task, hook }) => ({
    hooks: [toldHook(await agent.getTaskPushNotificationConfig({ tenant: '', taskId: task, id: hook.id }))],
  }),
  'list hooks': async ({ task }) => ({
    hooks: (await agent.listTaskPushNotificationConfig(ListTaskPushNotificationConfigsRequest.fromJSON({ taskId: task }))).configs.map(toldHook),
  }),
  'delete hook': async ({ task, hook }) => {
    await agent.deleteTaskPushNotificationConfig({ tenant: '', taskId: task, id: hook.id });
    return {};
  },
  'extended card': async () => skills(await agent.transport.getExtendedAgentCard({ tenant: '' })),
};

for await (const line of createInterface({ input: process.stdin })) {
  const ask = JSON.parse(line);
  const answer = await operations[ask.op](ask).catch((e) => ({ error: `${e.constructor.name}: ${e.message}` }));
  console.log(JSON.stringify(answer));
}
process.exit(0);
