"""Sends notifications of a task to the webhook at the URL that is the argument, as agents made with the SDK do."""

import asyncio
import sys

import httpx

from a2a.helpers import new_text_artifact_update_event, new_text_status_update_event
from a2a.server.context import ServerCallContext
from a2a.server.tasks import BasePushNotificationSender, InMemoryPushNotificationConfigStore
from a2a.types import Task, TaskPushNotificationConfig, TaskState, TaskStatus, TaskStatusUpdateEvent


async def main(url):
    store = InMemoryPushNotificationConfigStore()
    await store.set_info("t", TaskPushNotificationConfig(url=url, token="s3cret"), ServerCallContext())
    first = new_text_artifact_update_event("t", "c", "story", "sun", append=False)
    second = new_text_artifact_update_event("t", "c", "story", "ny", append=True)
    second.artifact.artifact_id = first.artifact.artifact_id
    completed = TaskStatus(state=TaskState.TASK_STATE_COMPLETED)
    async with httpx.AsyncClient() as http:
        sender = BasePushNotificationSender(http, store)
        for event in (
            Task(id="t", context_id="c", status=TaskStatus(state=TaskState.TASK_STATE_SUBMITTED)),
            new_text_status_update_event("t", "c", TaskState.TASK_STATE_WORKING, "Looking."),
            first,
            second,
            TaskStatusUpdateEvent(task_id="t", context_id="c", status=completed),
        ):
            await sender.send_notification("t", event)


asyncio.run(main(sys.argv[1]))
