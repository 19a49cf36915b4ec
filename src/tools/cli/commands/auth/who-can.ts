/** `orchctl auth who-can`: lists the users, groups and service accounts that may perform an action, and why. */

import { compareUtf8 } from '../../../../base/collections/utf8-order.ts'
import { toggle } from '../../../../base/flags/flags.ts'
import * as kinds from '../../../../client/requests/built-in-kinds.ts'
import { withTypedSession } from '../../changes/remove-nulls.ts'
import { askServer } from '../../connection/ask-server.ts'
import { connectionFlags } from '../../connection/connection-flags.ts'
import { Columns } from '../../printers/columns.ts'
import { escapeLine } from '../../printers/escape.ts'
import { defineCommand } from '../../program/command.ts'
import { readQuestion } from './question.ts'

interface Answer {
  readonly subjects?: readonly { kind?: string; name?: string; namespace?: string; role?: string; binding?: string }[]
  readonly notes?: readonly string[]
}

export const whoCanCommand = defineCommand({
  name: 'auth who-can',
  forms: ['VERB (TYPE[.GROUP][/SUBRESOURCE] [NAME] | /PATH) [flags]'],
  about: 'List who can perform an action, and the role and binding that allow it.',
  examples: ['orchctl auth who-can delete secrets -n shop', 'orchctl auth who-can get /metrics'],
  flags: {
    allNamespaces: toggle({
      name: 'all-namespaces',
      letter: 'A',
      help: 'check permissions for the whole cluster instead of one namespace',
    }),
    ...connectionFlags,
  },
  run: async (context, { options, words }) => {
    readQuestion(words, '')
    await withTypedSession(context, options, async (session) => {
      const question = readQuestion(words, options.allNamespaces ? '' : session.namespace)
      const answer = await askServer<Answer>(session, kinds.WhoCan, question)
      const { subjects = [], notes = [] } = answer
      if (subjects.length > 0)
        context.out(
          new Columns().lines([
            ['KIND', 'NAMESPACE', 'NAME', 'ROLE', 'BINDING'],
            ...subjects
              .map(({ kind = '', namespace = '', name = '', role = '', binding = '' }) =>
                [kind, namespace, name, role, binding].map(escapeLine),
              )
              .sort((a, b) => compareUtf8(a.join('\0'), b.join('\0'))),
          ]),
        )
      else context.out('No role binding allows anyone to do this.\n')
      for (const note of notes) context.err(`${escapeLine(note)}\n`)
    })
  },
})
