"""As notify.py, with the SDK of 0.3: a notification is the whole task."""

import asyncio
import sys

import httpx

from a2a.server.tasks import BasePushNotificationSender, InMemoryPushNotificationConfigStore
from a2a.types import Artifact, Part, PushNotificationConfig, Task, TaskState, TaskStatus, TextPart


async def main(url):
    store = InMemoryPushNotificationConfigStore()
    await store.set_info("t", PushNotificationConfig(url=url, token="s3cret"))
    async with httpx.AsyncClient() as http:
        sender = BasePushNotificationSender(http, store)
        for state, texts in (
            (TaskState.submitted, []),
            (TaskState.working, ["sun"]),
            (TaskState.working, ["sun", "ny"]),
            (TaskState.completed, ["sun", "ny"]),
        ):
            parts = [Part(root=TextPart(text=text)) for text in texts]
            artifacts = [Artifact(artifact_id="story", parts=parts)] if parts else None
            await sender.send_notification(Task(id="t", context_id="c", status=TaskStatus(state=state), artifacts=artifacts))


asyncio.run(main(sys.argv[1]))
