/**
 * `orchctl auth why`: asks the server why something is allowed or not: the rules that come nearest, the bindings they
 * came by, and the smallest rule that would allow it. The server names this command in a refusal, where one may ask.
 */

import { flag, type OptionsOf, text, toggle, UsageError } from '../../../base/flags.ts'
import type { ResourceType } from '../../../client/resource-type.ts'
import { StatusError } from '../../../client/status-error.ts'
import type { JsonObject } from '../../../model/json.ts'
import type { ApiObject } from '../../../model/object.ts'
import { groupName } from '../../../model/vendor.ts'
import { defineCommand } from '../../command.ts'
import { connectionFlags } from '../../connection-flags.ts'
import { escapeLine } from '../../printers/escape.ts'
import { type Session, withSession } from '../../session.ts'

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
    if (words.length < 2 || words.length > 3) throw new UsageError('say a verb and what it would be done to')
    await withSession(context, options, async (session) => {
      const namespace = options.allNamespaces ? '' : session.namespace
      const question = { ...attributesOf(words, namespace), ...subjectOf(options) }
      const answer = await ask(session, question).catch((error: unknown) => {
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

function attributesOf([verb = '', what = '', name = '']: readonly string[], namespace: string): JsonObject {
  if (what.startsWith('/')) return { nonResourceAttributes: { verb, path: what } }
  const [type = '', subresource = ''] = what.split('/')
  const [resource = '', ...group] = type.split('.')
  return { resourceAttributes: { verb, group: group.join('.'), resource, subresource, name, namespace } }
}

interface Rule {
  readonly verbs?: readonly string[]
  readonly apiGroups?: readonly string[]
  readonly resources?: readonly string[]
  readonly resourceNames?: readonly string[]
  readonly nonResourceURLs?: readonly string[]
}

interface Explanation extends ApiObject {
  readonly status: {
    readonly allowed: boolean
    readonly reason?: string
    readonly nearRules?: readonly { rule?: Rule; role?: string; binding?: string; lacks?: readonly string[] }[]
    readonly smallestRule?: Rule
  }
}

async function ask({ client, types, context: { signal } }: Session, spec: JsonObject): Promise<Explanation['status']> {
  const group = groupName(await types.vendor(), 'ops')
  const type: ResourceType = { group, version: 'v1', plural: 'accessexplanations', namespaced: false }
  const question: ApiObject = { apiVersion: `${group}/v1`, kind: 'AccessExplanation', metadata: {}, spec }
  return ((await client.create(type, question, { signal })) as Explanation).status
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
