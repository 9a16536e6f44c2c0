"""Is a client of the agent at a URL, of a version, over a binding: these are the arguments. Reads what to do as lines of JSON, and
prints an answer for each."""

import asyncio
import json
import sys
import uuid

import grpc.aio
import httpx

from google.protobuf.json_format import MessageToDict, ParseDict

from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.types import (
    CancelTaskRequest,
    DeleteTaskPushNotificationConfigRequest,
    GetExtendedAgentCardRequest,
    GetTaskPushNotificationConfigRequest,
    GetTaskRequest,
    ListTaskPushNotificationConfigsRequest,
    ListTasksRequest,
    Message,
    Part,
    SendMessageConfiguration,
    SendMessageRequest,
    SubscribeToTaskRequest,
    TaskPushNotificationConfig,
    TaskState,
)

MOMENT = 0.3  # until a task that is subscribed to is canceled


def own_part(part):
    fields = {"filename": part.get("name", ""), "mediaType": part.get("type", "")}
    fields |= {k: v for k, v in part.items() if k not in ("name", "type")}
    return ParseDict(fields, Part())


def told_part(part):
    fields = MessageToDict(part)
    told = {k: fields[k] for k in ("text", "data", "raw", "url") if k in fields}
    return told | {"name": part.filename, "type": part.media_type}


def told_parts(parts):
    return [told_part(p) for p in parts]


def text(parts):
    return "".join(p.text for p in parts)


def told_task(task):
    return {
        "id": task.id,
        "context": task.context_id,
        "state": TaskState.Name(task.status.state),
        "asks": text(task.status.message.parts),
        "parts": [p for a in task.artifacts for p in told_parts(a.parts)],
    }


def told_event(item):
    if item.HasField("task"):
        return {"kind": "task", "state": TaskState.Name(item.task.status.state)}
    if item.HasField("message"):
        return {"kind": "message", "text": text(item.message.parts)}
    if item.HasField("status_update"):
        return {"kind": "status", "state": TaskState.Name(item.status_update.status.state)}
    return {"kind": "artifact", "text": text(item.artifact_update.artifact.parts)}


def told_hook(hook):
    return {"id": hook.id, "url": hook.url, "token": hook.token}


def skills(card):
    return {"skills": [s.id for s in card.skills]}


def request(ask):
    message = Message(
        message_id=str(uuid.uuid4()),
        role="ROLE_USER",
        parts=[own_part(p) for p in ask["parts"]],
        task_id=ask.get("task", ""),
        context_id=ask.get("context", ""),
    )
    return SendMessageRequest(message=message, configuration=SendMessageConfiguration(return_immediately=ask.get("now", False)))


class Caller:
    """Does what it is asked."""

    def __init__(self, card, calls, streams):
        self.own, self.calls, self.streams = card, calls, streams

    async def do(self, ask):
        return await getattr(self, ask["op"].replace(" ", "_"))(ask)

    async def card(self, _):
        return skills(self.own)

    async def send(self, ask):
        async for item in self.calls.send_message(request(ask)):
            if item.HasField("message"):
                return {"message": told_parts(item.message.parts)}
            return {"task": told_task(item.task)}

    async def stream(self, ask):
        return {"events": [told_event(e) async for e in self.streams.send_message(request(ask))]}

    async def get(self, ask):
        return {"task": told_task(await self.calls.get_task(GetTaskRequest(id=ask["task"])))}

    async def list(self, ask):
        found = await self.calls.list_tasks(ListTasksRequest(context_id=ask["context"]))
        return {"tasks": [t.id for t in found.tasks]}

    async def cancel(self, ask):
        return {"task": told_task(await self.calls.cancel_task(CancelTaskRequest(id=ask["task"])))}

    async def subscribe(self, ask):
        async def soon():
            await asyncio.sleep(MOMENT)
            await self.cancel(ask)

        canceling = asyncio.create_task(soon())
        events = [told_event(e) async for e in self.streams.subscribe(SubscribeToTaskRequest(id=ask["task"]))]
        await canceling
        return {"events": events}

    async def create_hook(self, ask):
        hook = TaskPushNotificationConfig(task_id=ask["task"], **ask["hook"])
        return {"hooks": [told_hook(await self.calls.create_task_push_notification_config(hook))]}

    async def get_hook(self, ask):
        which = GetTaskPushNotificationConfigRequest(task_id=ask["task"], id=ask["hook"]["id"])
        return {"hooks": [told_hook(await self.calls.get_task_push_notification_config(which))]}

    async def list_hooks(self, ask):
        which = ListTaskPushNotificationConfigsRequest(task_id=ask["task"])
        found = await self.calls.list_task_push_notification_configs(which)
        return {"hooks": [told_hook(h) for h in found.configs]}

    async def delete_hook(self, ask):
        which = DeleteTaskPushNotificationConfigRequest(task_id=ask["task"], id=ask["hook"]["id"])
        await self.calls.delete_task_push_notification_config(which)
        return {}

    async def extended_card(self, _):
        return skills(await self.calls.get_extended_agent_card(GetExtendedAgentCardRequest()))


async def main(url, version, binding):
    async with httpx.AsyncClient(timeout=30) as http:
        card = await A2ACardResolver(http, url).get_agent_card()
        only = [i for i in card.supported_interfaces if i.protocol_binding == binding and i.protocol_version.startswith(version)]
        del card.supported_interfaces[:]
        card.supported_interfaces.extend(only)

    def client(streaming):
        return ClientFactory(
            ClientConfig(streaming=streaming, supported_protocol_bindings=[binding], grpc_channel_factory=grpc.aio.insecure_channel)
        ).create(card)

    caller = Caller(card, client(False), client(True))
    while line := await asyncio.to_thread(sys.stdin.readline):
        try:
            answer = await caller.do(json.loads(line))
        except NotImplementedError:
            answer = {"none": "its client has no such operation"}
        except Exception as e:
            answer = {"error": f"{type(e).__name__}: {e}"}
        print(json.dumps(answer), flush=True)


asyncio.run(main(*sys.argv[1:]))
