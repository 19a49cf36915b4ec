/** `orchctl auth whoami`: shows the user that the server authenticated. */

import { asJson } from '../../../../api/model/object.ts'
import { flag, oneOf } from '../../../../base/flags/flags.ts'
import * as kinds from '../../../../client/requests/built-in-kinds.ts'
import { inDomainOf } from '../../../../client/requests/resource-type.ts'
import { withTypedSession } from '../../changes/remove-nulls.ts'
import { connectionFlags } from '../../connection/connection-flags.ts'
import { Columns } from '../../printers/columns.ts'
import { escapeLine } from '../../printers/escape.ts'
import { printDocument } from '../../printers/objects.ts'
import { defineCommand, refuseWords } from '../../program/command.ts'

const flags = {
  output: flag({
    name: 'output',
    letter: 'o',
    value: 'FORMAT',
    read: oneOf(['', 'json', 'yaml']),
    help: 'output format: json or yaml',
  }),
  ...connectionFlags,
}

export const whoamiCommand = defineCommand({
  name: 'auth whoami',
  forms: ['[flags]'],
  about: 'Show your user name and groups, as authenticated by the server.',
  examples: ['orchctl auth whoami', 'orchctl auth whoami --as alice -o yaml'],
  flags,
  run: async (context, { options, words }) => {
    refuseWords(words)
    await withTypedSession(context, options, async ({ client, types }) => {
      const type = inDomainOf(await types.vendor(), kinds.WhoAmI)
      const answer = await client.create(type, { metadata: {} }, { signal: context.signal })
      context.out(options.output === '' ? table(answer) : await printDocument(asJson(answer), options.output))
    })
  },
})

function table({ status }: kinds.WhoAmI): string {
  const { user = '', uid = '', groups = [], extra = {} } = status ?? {}
  const rows = [
    ['ATTRIBUTE', 'VALUE'],
    ['Username', user],
    ...(uid === '' ? [] : [['UID', uid]]),
    ['Groups', `[${groups.join(' ')}]`],
    ...Object.entries(extra).map(([key, values]) => [`Extra: ${key}`, `[${values.join(' ')}]`]),
  ]
  return new Columns().lines(rows.map((row) => row.map(escapeLine)))
}
