/**
 * `orchctl auth why`: asks the server why something is allowed or not: the rules that come nearest, the bindings they
 * came by, and the smallest rule that would allow it. The server names this command in a refusal, where one may ask.
 */

import { flag, type OptionsOf, text, toggle, UsageError } from '../../../base/flags.ts'
import { StatusError } from '../../../client/status-error.ts'
import type { JsonObject } from '../../../model/json.ts'
import type { ApiObject } from '../../../model/object.ts'
import { defineCommand } from '../../command.ts'
import { connectionFlags } from '../../connection-flags.ts'
import { escapeLine } from '../../printers/escape.ts'
import type { Rule } from '../../rules.ts'
import { withTypedSession } from '../../without-nulls.ts'
import { askServer, readQuestion } from './question.ts'

const flags = {
  allNamespaces: toggle('A,all-namespaces', 'at the cluster scope'),
  user: flag('user', 'NAME', '', text, 'ask about this user, and not oneself'),
  ...connectionFlags,
}

type Options = OptionsOf<typeof flags>

export const whyCommand = defineCommand({
  name: 'auth why',
  forms: ['VERB (TYPE[.GROUP][/SUBRESOURCE] [NAME] | /PATH) [flags]'],
  about: 'Says why something is allowed or not: the rules that come nearest, and the smallest that would allow it.',
  examples: [
    'orchctl auth why get secrets -n shop',
    'orchctl auth why patch deployments.apps/scale web -n shop --user alice',
    'orchctl auth why get /metrics',
  ],
  flags,
  run: async (context, { options, words }) => {
    readQuestion(words, '')
    await withTypedSession(context, options, async (session) => {
      const namespace = options.allNamespaces ? '' : session.namespace
      const question = { ...readQuestion(words, namespace), ...subjectOf(options) }
      const answer = await askServer<Explanation['status']>(session, explanations, question).catch((error: unknown) => {
        throw options.as !== '' && error instanceof StatusError && error.reason === 'Forbidden'
          ? new UsageError(mayNotAsk(options.as, words))
          : error
      })
      context.out(answerText(answer))
    })
  },
})

function mayNotAsk(user: string, words: readonly string[]): string {
  const name = JSON.stringify(user)
  return `--as ${name} asks as that user, who may not ask this; to ask about the user: orchctl auth why ${words.join(' ')} --user=${name}`
}

function subjectOf({ user }: Options): JsonObject {
  return user === '' ? {} : { user }
}

const explanations = { kind: 'AccessExplanation', plural: 'accessexplanations' }

interface Explanation extends ApiObject {
  readonly status: {
    readonly allowed: boolean
    readonly reason?: string
    readonly nearRules?: readonly { rule?: Rule; role?: string; binding?: string; lacks?: readonly string[] }[]
    readonly smallestRule?: Rule
  }
}

function answerText({ allowed, reason = '', nearRules = [], smallestRule }: Explanation['status']): string {
  const lines = [
    `${allowed ? 'allowed' : 'not allowed'}${reason === '' ? '' : `: ${reason}`}`,
    ...nearRules.map(
      ({ rule = {}, role = '', binding = '', lacks = [] }) =>
        `nearly: ${ruleText(rule)} in ${role} by ${binding}; it lacks the ${lacks.join(' and the ')}`,
    ),
    ...(smallestRule === undefined ? [] : [`the smallest rule that would allow it: ${ruleText(smallestRule)}`]),
  ]
  return `${lines.map(escapeLine).join('\n')}\n`
}

/** As it would stand in a role. */
function ruleText(rule: Rule): string {
  const said = Object.entries(rule).filter(([, words]) => words !== undefined && words.length > 0)
  return `{${said.map(([name, words]) => `${name}: ${JSON.stringify(words)}`).join(', ')}}`
}
