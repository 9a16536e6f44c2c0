"""As call.py, with the SDK of 0.3."""

import asyncio
import json
import sys
import uuid

import grpc.aio
import httpx

from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.types import (
    DataPart,
    FilePart,
    FileWithBytes,
    FileWithUri,
    GetTaskPushNotificationConfigParams,
    Message,
    Part,
    PushNotificationConfig,
    Role,
    TaskArtifactUpdateEvent,
    TaskIdParams,
    TaskPushNotificationConfig,
    TaskQueryParams,
    TextPart,
)

MOMENT = 0.3  # until a task that is subscribed to is canceled


def own_part(part):
    about = {"name": part.get("name"), "mime_type": part.get("type")}
    if "data" in part:
        return Part(root=DataPart(data=part["data"]))
    if "raw" in part:
        return Part(root=FilePart(file=FileWithBytes(bytes=part["raw"], **about)))
    if "url" in part:
        return Part(root=FilePart(file=FileWithUri(uri=part["url"], **about)))
    return Part(root=TextPart(text=part["text"]))


def told_part(part):
    root = part.root
    if root.kind == "text":
        return {"text": root.text}
    if root.kind == "data":
        return {"data": root.data}
    told = {"name": root.file.name or "", "type": root.file.mime_type or ""}
    if isinstance(root.file, FileWithBytes):
        return told | {"raw": root.file.bytes}
    return told | {"url": root.file.uri}


def told_parts(parts):
    return [told_part(p) for p in parts]


def text(parts):
    return "".join(p.root.text for p in parts if p.root.kind == "text")


def told_task(task):
    return {
        "id": task.id,
        "context": task.context_id,
        "state": task.status.state.value,
        "asks": text(task.status.message.parts) if task.status.message else "",
        "parts": [p for a in task.artifacts or [] for p in told_parts(a.parts)],
    }


def told_event(item):
    if isinstance(item, Message):
        return {"kind": "message", "text": text(item.parts)}
    task, update = item
    if update is None:
        return {"kind": "task", "state": task.status.state.value}
    if isinstance(update, TaskArtifactUpdateEvent):
        return {"kind": "artifact", "text": text(update.artifact.parts)}
    return {"kind": "status", "state": update.status.state.value}


def told_hook(hook):
    config = hook.push_notification_config
    return {"id": config.id, "url": config.url, "token": config.token}


def skills(card):
    return {"skills": [s.id for s in card.skills]}


def message(ask):
    return Message(
        message_id=str(uuid.uuid4()),
        role=Role.user,
        parts=[own_part(p) for p in ask["parts"]],
        task_id=ask.get("task"),
        context_id=ask.get("context"),
    )


class Caller:
    """Does what it is asked."""

    def __init__(self, card, client):
        self.own, self.calls, self.polls = card, client(streaming=False), client(streaming=False, polling=True)
        self.streams = client(streaming=True)

    async def do(self, ask):
        return await getattr(self, ask["op"].replace(" ", "_"))(ask)

    async def card(self, _):
        return skills(self.own)

    async def send(self, ask):
        async for item in (self.polls if ask.get("now") else self.calls).send_message(message(ask)):
            return {"message": told_parts(item.parts)} if isinstance(item, Message) else {"task": told_task(item[0])}

    async def stream(self, ask):
        return {"events": [told_event(e) async for e in self.streams.send_message(message(ask))]}

    async def get(self, ask):
        return {"task": told_task(await self.calls.get_task(TaskQueryParams(id=ask["task"])))}

    async def cancel(self, ask):
        return {"task": told_task(await self.calls.cancel_task(TaskIdParams(id=ask["task"])))}

    async def subscribe(self, ask):
        async def soon():
            await asyncio.sleep(MOMENT)
            await self.cancel(ask)

        canceling = asyncio.create_task(soon())
        events = [told_event(e) async for e in self.streams.resubscribe(TaskIdParams(id=ask["task"]))]
        await canceling
        return {"events": events}

    async def create_hook(self, ask):
        hook = TaskPushNotificationConfig(task_id=ask["task"], push_notification_config=PushNotificationConfig(**ask["hook"]))
        return {"hooks": [told_hook(await self.calls.set_task_callback(hook))]}

    async def get_hook(self, ask):
        which = GetTaskPushNotificationConfigParams(id=ask["task"], push_notification_config_id=ask["hook"]["id"])
        return {"hooks": [told_hook(await self.calls.get_task_callback(which))]}

    async def list_hooks(self, _):
        return {"none": "its client has no such operation"}

    async def delete_hook(self, _):
        return {"none": "its client has no such operation"}

    async def extended_card(self, _):
        return skills(await self.calls.get_card())


async def main(url, _, binding):
    async with httpx.AsyncClient(timeout=30) as http:
        card = await A2ACardResolver(http, url).get_agent_card()

        def client(**config):
            return ClientFactory(
                ClientConfig(
                    httpx_client=http, supported_transports=[binding], grpc_channel_factory=grpc.aio.insecure_channel, **config
                )
            ).create(card)

        caller = Caller(card, client)
        while line := await asyncio.to_thread(sys.stdin.readline):
            try:
                answer = await caller.do(json.loads(line))
            except Exception as e:
                answer = {"error": f"{type(e).__name__}: {e} {getattr(e, 'error', '')!r}"}
            print(json.dumps(answer), flush=True)


asyncio.run(main(*sys.argv[1:]))
