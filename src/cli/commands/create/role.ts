/** `orchctl create role` and `clusterrole`: rules from verbs and types. */
import { flag, repeated, text, UsageError } from '../../../base/flags.ts'
import { readPairs } from '../../pairs.ts'
import type { Given } from './generator.ts'
import { defineGenerator } from './generator.ts'

const ruleFlags = {
  verb: repeated('verb', 'VERB', text, 'what may be done: get,list,watch'),
  resource: repeated('resource', 'TYPE', text, 'with what: pods, deployments.apps, pods/log'),
  resourceName: repeated('resource-name', 'NAME', text, 'only with objects of this name'),
}

interface RuleOptions {
  readonly verb: readonly string[]
  readonly resource: readonly string[]
  readonly resourceName: readonly string[]
}

export const createRoleCommand = defineGenerator({
  name: 'role',
  about: 'Creates a role: what may be done with which types, in one namespace.',
  examples: ['orchctl create role reader --verb=get,list,watch --resource=pods,configmaps'],
  flags: ruleFlags,
  type: { group: 'rbac.authorization', version: 'v1', kind: 'Role', namespaced: true },
  make: async (options, given) => ({ rules: await rulesOf(options, given) }),
})

export const createClusterRoleCommand = defineGenerator({
  name: 'clusterrole',
  about: 'Creates a cluster role: what may be done with which types everywhere, or at which paths.',
  examples: [
    'orchctl create clusterrole reader --verb=get,list,watch --resource=pods',
    'orchctl create clusterrole all --aggregation-rule=part-of=all',
    'orchctl create clusterrole prober --verb=get --non-resource-url=/metrics',
  ],
  flags: {
    ...ruleFlags,
    nonResourceUrl: repeated('non-resource-url', 'PATH', text, 'at which path'),
    aggregationRule: flag(
      'aggregation-rule',
      'LABEL=VALUE,...',
      '',
      text,
      'with the rules of all cluster roles that have these labels, in place of rules of its own',
    ),
  },
  type: { group: 'rbac.authorization', version: 'v1', kind: 'ClusterRole', namespaced: false },
  make: async (options, given) => {
    if (options.aggregationRule !== '') {
      if (
        [options.verb, options.resource, options.nonResourceUrl, options.resourceName].some((list) => list.length > 0)
      )
        throw new UsageError('aggregation rule must be specified without rules: --verb, --resource and the like')
      const matchLabels = readPairs(options.aggregationRule, '--aggregation-rule')
      return { aggregationRule: { clusterRoleSelectors: [{ matchLabels }] } }
    }
    const paths = options.nonResourceUrl.flatMap((path) => path.split(','))
    if (paths.length === 0) return { rules: await rulesOf(options, given) }
    const ofTypes = options.resource.length === 0 ? [] : await rulesOf(options, given)
    return { rules: [...ofTypes, { verbs: verbsOf(options), nonResourceURLs: paths }] }
  },
})

function verbsOf({ verb }: RuleOptions): string[] {
  const verbs = [...new Set(verb.flatMap((words) => words.split(',')))]
  if (verbs.length === 0) throw new UsageError('at least one verb must be specified: --verb=get')
  return verbs.includes('*') ? ['*'] : verbs
}

/** One rule for each group of types. */
async function rulesOf(options: RuleOptions, { session }: Given): Promise<object[]> {
  const verbs = verbsOf(options)
  const words = options.resource.flatMap((names) => names.split(','))
  if (words.length === 0) throw new UsageError('at least one resource must be specified: --resource=pods')
  const groups = new Map<string, string[]>()
  for (const word of words) {
    const { group, resource } = await typeOf(session, word)
    groups.set(group, [...(groups.get(group) ?? []), resource])
  }
  const names = options.resourceName.flatMap((name) => name.split(','))
  return [...groups].map(([group, resources]) => ({
    apiGroups: [group],
    resources,
    ...(names.length === 0 ? {} : { resourceNames: names }),
    verbs,
  }))
}

async function typeOf({ types }: Given['session'], word: string): Promise<{ group: string; resource: string }> {
  if (word === '*') return { group: '*', resource: '*' }
  const [name = '', subresource] = word.split('/')
  const { group, plural } = await types.named(name)
  return { group, resource: subresource === undefined ? plural : `${plural}/${subresource}` }
}
