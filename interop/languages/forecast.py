"""Calls the skill get_forecast of the agent at the URL that is the argument, and prints the forecast."""

import asyncio
import json
import sys

from a2a.client import ClientConfig, create_client
from a2a.helpers import get_data_parts, new_data_message
from a2a.types import Role, SendMessageRequest

SKILLS = "https://github.com/a2agen/a2agen/extensions/skills/v1"


async def call(agent, skill, data):
    """Calls a skill and returns its output."""
    message = new_data_message(data, media_type="application/json", role=Role.ROLE_USER)
    message.metadata.update({SKILLS: {"skill": skill}})
    message.extensions.append(SKILLS)
    async for answer in agent.send_message(SendMessageRequest(message=message)):
        for artifact in answer.task.artifacts:
            if SKILLS in artifact.metadata:
                return get_data_parts(artifact.parts)[0]
    raise RuntimeError(f"{skill} gave no result: {answer}")


async def main(url):
    async with await create_client(url, ClientConfig(streaming=False)) as agent:
        print(json.dumps(await call(agent, "get_forecast", {"location": "London", "days": 3})))


asyncio.run(main(sys.argv[1]))
