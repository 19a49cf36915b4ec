/** `orchctl cluster-info`: shows the address of the server. */

import { withConnection } from '../connection/connect.ts'
import { connectionFlags } from '../connection/connection-flags.ts'
import { escapeLine } from '../printers/escape.ts'
import { defineCommand, refuseWords } from '../program/command.ts'

export const clusterInfoCommand = defineCommand({
  name: 'cluster-info',
  forms: ['[flags]'],
  about: "Show the server's address and version, and whether the server is ready.",
  examples: ['orchctl cluster-info'],
  flags: connectionFlags,
  run: async (context, { options, words }) => {
    refuseWords(words)
    await withConnection(context, options, async ({ client, server }) => {
      const { gitVersion } = await client.read<{ gitVersion: string }>('/version', { signal: context.signal })
      const { body } = await client.open({
        method: 'GET',
        path: '/readyz',
        accept: 'text/plain',
        signal: context.signal,
      })
      for await (const _ of body);
      context.out(`The control plane is running at ${server}, version ${escapeLine(gitVersion)}, and is ready.\n`)
    })
  },
})
