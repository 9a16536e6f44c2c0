// Calls the skill get_forecast of the agent at the URL that is the argument, and prints the forecast.
import { Role } from '@a2a-js/sdk';
import { ClientFactory } from '@a2a-js/sdk/client';

const SKILLS = 'https://github.com/a2agen/a2agen/extensions/skills/v1';

// call calls a skill and returns its output.
async function call(agent, skill, data) {
  const answer = await agent.sendMessage({
    message: {
      messageId: crypto.randomUUID(),
      role: Role.ROLE_USER,
      parts: [{ content: { $case: 'data', value: data }, mediaType: 'application/json' }],
      metadata: { [SKILLS]: { skill } },
      extensions: [SKILLS],
    },
  });
  const result = answer.artifacts?.find((artifact) => artifact.metadata?.[SKILLS]);
  if (!result) throw new Error(`${skill} gave no result: ${JSON.stringify(answer)}`);
  return result.parts.find((part) => part.content.$case === 'data').content.value;
}

const agent = await new ClientFactory().createFromUrl(process.argv[2]);
console.log(JSON.stringify(await call(agent, 'get_forecast', { location: 'London', days: 3 })));
