/** `orchctl create role` and `clusterrole`: rules from verbs and types. */

import { flag, repeated, text, UsageError } from '../../../../base/flags/flags.ts'
import * as kinds from '../../../../client/requests/built-in-kinds.ts'
import { readPairs } from '../../arguments/pairs.ts'
import { defineGenerator } from './generator.ts'
import { ruleForPaths, rulesForTypes } from './policy-rules.ts'

const ruleFlags = {
  verb: repeated({ name: 'verb', value: 'VERB', read: text, help: 'what may be done: get,list,watch' }),
  resource: repeated({
    name: 'resource',
    value: 'TYPE',
    read: text,
    help: 'with what: pods, deployments.apps, pods/log, *.apps',
  }),
  resourceName: repeated({ name: 'resource-name', value: 'NAME', read: text, help: 'only with objects of this name' }),
}

export const createRoleCommand = defineGenerator({
  name: 'role',
  about: 'Creates a role: what may be done with which types, in one namespace.',
  examples: ['orchctl create role reader --verb=get,list,watch --resource=pods,configmaps'],
  flags: ruleFlags,
  type: kinds.Role,
  make: async (options, given) => ({ rules: await rulesForTypes(options, given) }),
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
    nonResourceUrl: repeated({ name: 'non-resource-url', value: 'PATH', read: text, help: 'at which path' }),
    aggregationRule: flag({
      name: 'aggregation-rule',
      value: 'LABEL=VALUE,...',
      read: text,
      help: 'with the rules of all cluster roles that have these labels, in place of rules of its own',
    }),
  },
  type: kinds.ClusterRole,
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
    if (paths.length === 0 && options.resource.length === 0)
      throw new UsageError('one of --resource and --non-resource-url must be specified')
    const ofTypes = options.resource.length === 0 ? [] : await rulesForTypes(options, given)
    const ofPaths = paths.length === 0 ? [] : [ruleForPaths(options, paths)]
    return { rules: [...ofTypes, ...ofPaths] }
  },
})
