/**
 * Creates role rules from verbs, types and paths, as kubectl does: one rule per group, in the order of the groups. `*`
 * selects all types in the core group, `*.apps` all types in a group, and `*.*` all types.
 */

import { groupName, type Vendor } from '../../../../api/model/vendor.ts'
import { compareUtf8 } from '../../../../base/collections/utf8-order.ts'
import { UsageError } from '../../../../base/flags/flags.ts'
import { nearVerb, pathVerbs, resourceVerbs } from '../../arguments/verbs.ts'
import type { Invocation } from './generator.ts'

export interface RuleOptions {
  readonly verb: readonly string[]
  readonly resource: readonly string[]
  readonly resourceName: readonly string[]
}

/**
 * Verbs that are valid only for certain resources. Some of these resources are virtual, so discovery does not list
 * them.
 */
const specialVerbs: { readonly [verb: string]: readonly (readonly [plural: string, groupId: string])[] } = {
  use: [['podsecuritypolicies', 'policy']],
  bind: [
    ['roles', 'rbac.authorization'],
    ['clusterroles', 'rbac.authorization'],
  ],
  escalate: [
    ['roles', 'rbac.authorization'],
    ['clusterroles', 'rbac.authorization'],
  ],
  impersonate: [
    ['users', 'core'],
    ['serviceaccounts', 'core'],
    ['groups', 'core'],
    ['userextras', 'authentication'],
  ],
}

/** Returns one RBAC rule per API group. */
export async function rulesForTypes(options: RuleOptions, invocation: Invocation): Promise<object[]> {
  const verbs = verbsOf(options)
  checkVerbs(verbs, invocation)
  const resources = Map.groupBy(await typesOf(options, verbs, invocation), ({ group }) => group)
  const names = [...new Set(options.resourceName)]
  return [...resources]
    .sort(([a], [b]) => compareUtf8(a, b))
    .map(([group, types]) => ({
      apiGroups: [group],
      resources: [...new Set(types.map(({ resource }) => resource))],
      ...(names.length === 0 ? {} : { resourceNames: names }),
      verbs,
    }))
}

/** Returns the rule for non-resource paths. Throws UsageError if the rule would allow nothing. */
export function ruleForPaths(options: RuleOptions, paths: readonly string[]): object {
  const verbs = verbsOf(options)
  const wrong = verbs.find((verb) => verb !== '*' && !pathVerbs.includes(verb))
  if (wrong !== undefined)
    throw new UsageError(
      `invalid verb ${JSON.stringify(wrong)} for --non-resource-url: use ${pathVerbs.join(', ')} or *`,
    )
  for (const path of paths) {
    if (path === '*') continue
    if (!path.startsWith('/')) throw new UsageError(`--non-resource-url ${JSON.stringify(path)} must start with /`)
    if (path.slice(0, -1).includes('*'))
      throw new UsageError(`--non-resource-url ${JSON.stringify(path)} may contain * only at the end`)
  }
  return { verbs, nonResourceURLs: paths }
}

function verbsOf({ verb }: RuleOptions): string[] {
  const words = [...new Set(verb.flatMap((list) => list.split(',')))]
  if (words.length === 0) throw new UsageError('at least one verb must be specified: --verb=get')
  return words.includes('*') ? ['*'] : words
}

/**
 * Rejects a probable misspelling of a known verb. Warns about other unknown verbs, which custom authorizers may use.
 */
function checkVerbs(verbs: readonly string[], { context }: Invocation): void {
  for (const verb of verbs) {
    if (verb === '*' || resourceVerbs.includes(verb)) continue
    const near = nearVerb(verb, resourceVerbs)
    if (near !== undefined) throw new UsageError(`unknown verb ${JSON.stringify(verb)}; did you mean ${near}?`)
    context.err(`Warning: '${verb}' is not a standard resource verb (${resourceVerbs.join(', ')}, *)\n`)
  }
}

interface RuleType {
  readonly group: string
  /** Plural name of the resource, followed by the subresource, if any, as in `pods/log`. */
  readonly resource: string
}

async function typesOf(
  { resource }: RuleOptions,
  verbs: readonly string[],
  { session, vendor }: Invocation,
): Promise<RuleType[]> {
  const words = resource.flatMap((list) => list.split(','))
  if (words.length === 0) throw new UsageError('at least one resource must be specified: --resource=pods')
  if (words.includes('*')) return [{ group: '', resource: '*' }]
  const ruleTypes: RuleType[] = []
  for (const word of words) {
    const slash = word.indexOf('/')
    const [name, subresource] = slash < 0 ? [word, ''] : [word.slice(0, slash), word.slice(slash)]
    const { group, plural } = await typeNamed(name, { session, verbs, vendor: await vendor() })
    ruleTypes.push({ group, resource: `${plural}${subresource}` })
  }
  return ruleTypes
}

async function typeNamed(
  name: string,
  {
    session,
    verbs,
    vendor,
  }: { readonly session: Invocation['session']; readonly verbs: readonly string[]; readonly vendor: Vendor },
): Promise<{ readonly group: string; readonly plural: string }> {
  const dot = name.indexOf('.')
  const [plural, group] = dot < 0 ? [name, ''] : [name.slice(0, dot), name.slice(dot + 1)]
  if (plural === '') throw new UsageError('--resource: the resource type before the group or subresource is missing')
  if (plural === '*') return { group, plural }
  const special = verbs.flatMap((verb) => (Object.hasOwn(specialVerbs, verb) ? [verb] : []))
  const fits = (verb: string, type: { readonly group: string; readonly plural: string }) =>
    specialVerbs[verb]!.some(([own, id]) => own === type.plural && groupName(vendor, id) === type.group)
  const isName = special.some((verb) => fits(verb, { group, plural }))
  const type = isName ? { group, plural } : await session.types.typeNamed(name)
  const wrong = special.find((verb) => !fits(verb, type))
  if (wrong === undefined) return type
  const resources = specialVerbs[wrong]!.map(([own, id]) => qualifiedResource(own, groupName(vendor, id)))
  throw new UsageError(
    `can not perform '${wrong}' on '${qualifiedResource(type.plural, type.group)}': only on ${resources.join(', ')}`,
  )
}

function qualifiedResource(plural: string, group: string): string {
  return group === '' ? plural : `${plural}.${group}`
}
