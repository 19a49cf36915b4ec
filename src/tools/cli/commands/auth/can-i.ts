/** `orchctl auth can-i`: checks whether the user may perform an action. The exit code also indicates the result. */

import type { JsonObject } from '../../../../api/json/json.ts'
import { flag, type OptionsOf, text, toggle, UsageError } from '../../../../base/flags/flags.ts'
import * as kinds from '../../../../client/requests/built-in-kinds.ts'
import { nearVerb, pathVerbs, resourceVerbs } from '../../arguments/verbs.ts'
import { withTypedSession } from '../../changes/remove-nulls.ts'
import { askServer } from '../../connection/ask-server.ts'
import { connectionFlags } from '../../connection/connection-flags.ts'
import type { Session } from '../../connection/session.ts'
import { Columns } from '../../printers/columns.ts'
import { escapeLine } from '../../printers/escape.ts'
import { ruleHeadings, ruleRows } from '../../printers/rules.ts'
import { defineCommand, ExitCode } from '../../program/command.ts'

const flags = {
  allNamespaces: toggle({
    name: 'all-namespaces',
    letter: 'A',
    help: 'check whether the action is allowed in all namespaces',
  }),
  subresource: flag({
    name: 'subresource',
    value: 'NAME',
    read: text,
    help: 'subresource to check, such as log or status',
  }),
  list: toggle({ name: 'list', help: 'list all allowed actions in the namespace' }),
  quiet: toggle({ name: 'quiet', letter: 'q', help: 'print nothing, and report the result only with the exit code' }),
  noHeaders: toggle({ name: 'no-headers', help: 'omit the header line' }),
  ...connectionFlags,
}

type Options = OptionsOf<typeof flags>

export const canICommand = defineCommand({
  name: 'auth can-i',
  forms: ['VERB (TYPE [NAME] | TYPE/NAME | /PATH) [flags]', '--list [flags]'],
  about:
    'Check whether an action is allowed. The command prints yes, or prints no and exits with code 1. With --as, check for another user.',
  examples: [
    'orchctl auth can-i create configmaps',
    'orchctl auth can-i delete pod/web -n shop --as alice',
    'orchctl auth can-i get /metrics',
    'orchctl auth can-i --list',
  ],
  flags,
  run: async (context, { options, words }) => {
    if (options.list && words.length > 0)
      throw new UsageError(`--list accepts no arguments: ${JSON.stringify(words[0])}`)
    if (!options.list && (words.length < 2 || words.length > 3))
      throw new UsageError('you must specify two arguments: verb resource or verb resource/resourceName')
    if (options.subresource !== '' && words[1]?.startsWith('/'))
      throw new UsageError('--subresource can not be used with NonResourceURL')
    await withTypedSession(context, options, async (session) => {
      if (options.list) context.out(await listed(session, options))
      else await ask(session, words, options)
    })
  },
})

interface Answer {
  readonly allowed?: boolean
  readonly reason?: string
  readonly evaluationError?: string
}

async function ask(session: Session, [verb = '', what = '', name]: readonly string[], options: Options): Promise<void> {
  const isPath = what.startsWith('/')
  warnOfVerb(session, verb, isPath ? pathVerbs : resourceVerbs)
  const spec = isPath
    ? { nonResourceAttributes: { verb, path: what } }
    : { resourceAttributes: await attributesOf(session, { verb, what, name }, options) }
  const answer = await askServer<Answer>(session, kinds.SelfSubjectAccessReview, spec)
  if (!options.quiet) session.context.out(answerText(answer))
  if (!answer.allowed) throw new ExitCode(1)
}

/**
 * Warns about unknown verbs. Without the warning, a user with all permissions would simply get the answer "yes" for a
 * misspelled verb.
 */
function warnOfVerb({ context }: Session, verb: string, knownVerbs: readonly string[]): void {
  if (verb === '*' || knownVerbs.includes(verb)) return
  const near = nearVerb(verb, knownVerbs)
  context.err(
    `Warning: verb '${escapeLine(verb)}' is not a known verb${near === undefined ? '' : `; did you mean '${near}'?`}\n`,
  )
}

function answerText({ allowed, reason = '', evaluationError = '' }: Answer): string {
  const why = [reason, evaluationError].filter((text) => text !== '').map((text) => ` - ${escapeLine(text)}`)
  return allowed ? 'yes\n' : `no${why.join('')}\n`
}

async function attributesOf(
  session: Session,
  { verb, what, name }: { verb: string; what: string; name: string | undefined },
  options: Options,
): Promise<JsonObject> {
  const [word = '', inner = name ?? '', ...more] = what.split('/')
  if (more.length > 0) throw new UsageError(`${JSON.stringify(what)} is not a type and a name: use TYPE/NAME`)
  const resourceType = word === '*' ? { group: '*', plural: '*', namespaced: true } : await typeOf(session, word)
  if (!options.allNamespaces && !resourceType.namespaced) {
    const group = resourceType.group === '' ? '' : ` in group '${resourceType.group}'`
    session.context.err(`Warning: resource '${resourceType.plural}' is not namespace scoped${group}\n`)
  }
  return {
    verb,
    group: resourceType.group,
    resource: resourceType.plural,
    name: inner,
    ...(options.subresource === '' ? {} : { subresource: options.subresource }),
    ...(resourceType.namespaced && !options.allNamespaces ? { namespace: session.namespace } : {}),
  }
}

/**
 * Returns the resource type that the user asks about. If the server does not serve it, prints a warning and uses the
 * given name.
 */
async function typeOf(session: Session, word: string): Promise<{ group: string; plural: string; namespaced: boolean }> {
  try {
    return await session.types.typeNamed(word)
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    session.context.err(`Warning: ${error.message.replaceAll('"', "'")}\n`)
    const [plural = word, ...group] = word.split('.')
    return { group: group.join('.'), plural, namespaced: true }
  }
}

interface Rules {
  incomplete?: boolean
  evaluationError?: string
  resourceRules?: { apiGroups?: string[]; resources?: string[]; resourceNames?: string[]; verbs: string[] }[]
  nonResourceRules?: { nonResourceURLs?: string[]; verbs: string[] }[]
}

async function listed(session: Session, { noHeaders }: Options): Promise<string> {
  const rules = await askServer<Rules>(session, kinds.SelfSubjectRulesReview, { namespace: session.namespace })
  if (rules.incomplete)
    session.context.err(`warning: the list may be incomplete: ${escapeLine(rules.evaluationError ?? '')}\n`)
  const rows = ruleRows([...(rules.resourceRules ?? []), ...(rules.nonResourceRules ?? [])])
  return new Columns().lines([...(noHeaders ? [] : [ruleHeadings]), ...rows.map((row) => row.map(escapeLine))])
}
