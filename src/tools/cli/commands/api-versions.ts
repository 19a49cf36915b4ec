/** Implements `orchctl api-versions`, which lists the API versions that the server serves. */
import { groupVersions } from '../../../client/requests/discovery.ts'
import { withConnection } from '../connection/connect.ts'
import { connectionFlags } from '../connection/connection-flags.ts'
import { escapeLine } from '../printers/escape.ts'
import { defineCommand, refuseWords } from '../program/command.ts'

export const apiVersionsCommand = defineCommand({
  name: 'api-versions',
  forms: ['[flags]'],
  about: "List the server's API versions, as group/version.",
  examples: ['orchctl api-versions'],
  flags: connectionFlags,
  run: async (context, { options, words }) => {
    refuseWords(words)
    await withConnection(context, options, async ({ client }) => {
      const servedVersions = await groupVersions(client, { signal: context.signal })
      const names = servedVersions.map(({ group, version }) => (group === '' ? version : `${group}/${version}`)).sort()
      context.out(names.map((name) => `${escapeLine(name)}\n`).join(''))
    })
  },
})
