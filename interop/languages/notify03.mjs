// As notify.mjs, with the SDK of 0.3: a notification is the whole task.
import { DefaultPushNotificationSender } from '@a2a-js/sdk/server';

const sender = new DefaultPushNotificationSender({ load: async () => [{ url: process.argv[2], token: 's3cret' }] });
const story = (texts) => [{ artifactId: 'story', parts: texts.map((text) => ({ kind: 'text', text })) }];

for (const [state, artifacts] of [
  ['submitted', []],
  ['working', story(['sun'])],
  ['working', story(['sun', 'ny'])],
  ['completed', story(['sun', 'ny'])],
])
  await sender.send({ kind: 'task', id: 't', contextId: 'c', status: { state }, artifacts });
