/**
 * `orchctl auth why`: explains why an action is allowed or denied, by showing the closest rules, their bindings, and
 * the smallest rule that would allow the action. The message in a 403 response recommends this command to users who may
 * run it.
 */

import { isObject, type JsonObject } from '../../../../api/json/json.ts'
import type { ApiObject } from '../../../../api/model/object.ts'
import type { PathAttributes, ResourceAttributes } from '../../../../apiserver/authz/authorizer.ts'
import { explainByOwnRules, type OwnRules } from '../../../../apiserver/authz/rbac/own-rules.ts'
import { flag, type OptionsOf, text, toggle } from '../../../../base/flags/flags.ts'
import * as kinds from '../../../../client/requests/built-in-kinds.ts'
import { StatusError } from '../../../../client/requests/status-error.ts'
import { withTypedSession } from '../../changes/remove-nulls.ts'
import { askServer } from '../../connection/ask-server.ts'
import { connectionFlags } from '../../connection/connection-flags.ts'
import type { Session } from '../../connection/session.ts'
import { escapeLine } from '../../printers/escape.ts'
import type { Rule } from '../../printers/rules.ts'
import { defineCommand } from '../../program/command.ts'
import { readQuestion } from './question.ts'

const flags = {
  allNamespaces: toggle({
    name: 'all-namespaces',
    letter: 'A',
    help: 'check permissions for the whole cluster instead of one namespace',
  }),
  user: flag({
    name: 'user',
    value: 'NAME',
    read: text,
    help: 'user whose permissions to check; default: the current user',
  }),
  ...connectionFlags,
}

type Options = OptionsOf<typeof flags>

export const whyCommand = defineCommand({
  name: 'auth why',
  forms: ['VERB (TYPE[.GROUP][/SUBRESOURCE] [NAME] | /PATH) [flags]'],
  about: `Explain why an action is allowed or denied. Show the rules that come closest to matching, and the narrowest rule that would allow the action.

Users who may create accessexplanations also see the roles and bindings. All other users see only their own rules.`,
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
      try {
        context.out(answerText(await askServer<Explanation['status']>(session, kinds.AccessExplanation, question)))
      } catch (error) {
        const isForbidden = error instanceof StatusError && error.reason === 'Forbidden'
        if (!isForbidden || options.user !== '') throw error
        context.out(answerText(await explainForOneself(session, readQuestion(words, namespace))))
      }
    })
  },
})

/**
 * Explains an action to a user who may not create an `AccessExplanation`. Uses only the user's own rules and the
 * reviews that every user may create.
 */
async function explainForOneself(session: Session, question: JsonObject): Promise<Explanation['status']> {
  const attributes = attributesOf(question)
  const namespace = (attributes.resource && attributes.namespace) || 'default'
  const [verdict, rules] = await Promise.all([
    askServer<Explanation['status']>(session, kinds.SelfSubjectAccessReview, question),
    askServer<OwnRules>(session, kinds.SelfSubjectRulesReview, { namespace }),
  ])
  return verdict.allowed ? verdict : { ...verdict, ...explainByOwnRules(attributes, rules) }
}

function attributesOf({ resourceAttributes, nonResourceAttributes }: JsonObject): ResourceAttributes | PathAttributes {
  if (isObject(nonResourceAttributes))
    return { resource: false, verb: String(nonResourceAttributes.verb), path: String(nonResourceAttributes.path) }
  const { resource: plural, ...rest } = resourceAttributes as { readonly [field: string]: string }
  const empty = { verb: '', group: '', subresource: '', namespace: '', name: '' }
  return { ...empty, ...rest, resource: true, version: '', plural: plural ?? '' }
}

function subjectOf({ user }: Options): JsonObject {
  return user === '' ? {} : { user }
}

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
        `nearly: ${ruleText(rule)}${role === '' ? '' : ` in ${role} by ${binding}`}; it lacks the ${lacks.join(' and the ')}`,
    ),
    ...(smallestRule === undefined ? [] : [`the smallest rule that would allow it: ${ruleText(smallestRule)}`]),
  ]
  return `${lines.map(escapeLine).join('\n')}\n`
}

/** Formats an RBAC rule on one line, with the field names of a role. */
function ruleText(rule: Rule): string {
  const ruleFields = Object.entries(rule).filter(([, words]) => words !== undefined && words.length > 0)
  return `{${ruleFields.map(([name, words]) => `${name}: ${JSON.stringify(words)}`).join(', ')}}`
}
