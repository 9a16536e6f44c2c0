// Sends notifications of a task to the webhook at the URL that is the argument, as agents made with the SDK do.
import { Artifact, Task, TaskState, TaskStatusUpdateEvent } from '@a2a-js/sdk';
import { DefaultPushNotificationSender } from '@a2a-js/sdk/server';

const sender = new DefaultPushNotificationSender({ load: async () => [{ url: process.argv[2], token: 's3cret' }] });
const ids = { taskId: 't', contextId: 'c' };
const status = (state) => ({ $case: 'statusUpdate', value: TaskStatusUpdateEvent.fromJSON({ ...ids, status: { state } }) });
const chunk = (text, append) => ({
  $case: 'artifactUpdate',
  value: { ...ids, artifact: Artifact.fromJSON({ artifactId: 'story', parts: [{ text }] }), append, lastChunk: append },
});

for (const payload of [
  { $case: 'task', value: Task.fromJSON({ id: 't', contextId: 'c', status: { state: TaskState.TASK_STATE_SUBMITTED } }) },
  status(TaskState.TASK_STATE_WORKING),
  chunk('sun', false),
  chunk('ny', true),
  status(TaskState.TASK_STATE_COMPLETED),
])
  await sender.send({ payload }, { requestedVersion: '1.0' });
