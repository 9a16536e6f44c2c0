"""As auth.py, with the SDK of 0.3."""

import asyncio
import json
import ssl
import sys
import uuid

import grpc.aio
import httpx

from a2a.client import A2ACardResolver, ClientCallContext, ClientConfig, ClientFactory
from a2a.client.auth import AuthInterceptor, InMemoryContextCredentialStore
from a2a.types import Message, Part, Role, TaskArtifactUpdateEvent, TextPart


def read(path):
    with open(path, "rb") as f:
        return f.read()


def connections(ask):
    """How agents are reached over HTTP and gRPC."""
    if not ask["ca"]:
        return True, grpc.aio.insecure_channel
    tls = ssl.create_default_context(cafile=ask["ca"])
    files = [ask["key"], ask["cert"]] if ask["cert"] else []
    if files:
        tls.load_cert_chain(ask["cert"], ask["key"])
    shown = grpc.ssl_channel_credentials(read(ask["ca"]), *map(read, files))
    return tls, lambda at: grpc.aio.secure_channel(at, shown)


async def call(ask):
    tls, channel = connections(ask)
    store = InMemoryContextCredentialStore()
    for scheme, secret in (ask["secrets"] or {}).items():
        await store.set_credentials("mine", scheme, secret)
    async with httpx.AsyncClient(timeout=30, verify=tls) as http:
        card = await A2ACardResolver(http, ask["url"]).get_agent_card()
        config = ClientConfig(streaming=ask["stream"], httpx_client=http, supported_transports=[ask["binding"]], grpc_channel_factory=channel)
        client = ClientFactory(config).create(card, interceptors=[AuthInterceptor(store)])
        text = "tell" if ask["stream"] else "hello"
        message = Message(message_id=str(uuid.uuid4()), role=Role.user, parts=[Part(root=TextPart(text=text))])
        context = ClientCallContext(state={"sessionId": "mine"})
        events = []
        async for item in client.send_message(message, context=context):
            if isinstance(item, Message):
                return {"message": [{"text": p.root.text} for p in item.parts]}
            if isinstance(item[1], TaskArtifactUpdateEvent):
                events.append({"kind": "artifact", "text": "".join(p.root.text for p in item[1].artifact.parts)})
        return {"events": events}


async def main():
    while line := await asyncio.to_thread(sys.stdin.readline):
        try:
            answer = await call(json.loads(line))
        except Exception as e:
            answer = {"error": f"{type(e).__name__}: {e}"}
        print(json.dumps(answer), flush=True)


asyncio.run(main())
