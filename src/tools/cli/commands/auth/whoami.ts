/** `orchctl auth whoami`: who the server takes the asker for. */

import { type ApiObject, asJson } from '../../../../api/model/object.ts'
import { groupName } from '../../../../api/model/vendor.ts'
import { flag, oneOf } from '../../../../base/flags/flags.ts'
import type { ResourceType } from '../../../../client/requests/resource-type.ts'
import { withTypedSession } from '../../changes/without-nulls.ts'
import { connectionFlags } from '../../connection/connection-flags.ts'
import { Columns } from '../../printers/columns.ts'
import { escapeLine } from '../../printers/escape.ts'
import { printDocument } from '../../printers/objects.ts'
import { defineCommand, refuseWords } from '../../program/command.ts'

const flags = {
  output: flag('o,output', 'FORMAT', '', oneOf(['', 'json', 'yaml']), 'json or yaml'),
  ...connectionFlags,
}

interface Identity extends ApiObject {
  status?: { user?: string; uid?: string; groups?: string[]; extra?: { [key: string]: string[] } }
}

export const whoamiCommand = defineCommand({
  name: 'auth whoami',
  forms: ['[flags]'],
  about: 'Shows who the server takes you for: your name, and the groups you are in.',
  examples: ['orchctl auth whoami', 'orchctl auth whoami --as alice -o yaml'],
  flags,
  run: async (context, { options, words }) => {
    refuseWords(words)
    await withTypedSession(context, options, async ({ client, types }) => {
      const group = groupName(await types.vendor(), 'ops')
      const question = { apiVersion: `${group}/v1`, kind: 'WhoAmI', metadata: {} }
      const type: ResourceType = { group, version: 'v1', plural: 'whoamis', namespaced: false }
      const answer = (await client.create(type, question, { signal: context.signal })) as Identity
      context.out(options.output === '' ? table(answer) : await printDocument(asJson(answer), options.output))
    })
  },
})

function table({ status }: Identity): string {
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
