/** Implements `orchctl create role` and `clusterrole`, which create rules from verbs and types. */

import { flag, repeated, text, UsageError } from '../../../../base/flags/flags.ts'
import * as kinds from '../../../../client/requests/built-in-kinds.ts'
import { readPairs } from '../../arguments/pairs.ts'
import { defineGenerator } from './generator.ts'
import { ruleForPaths, rulesForTypes } from './policy-rules.ts'

const ruleFlags = {
  verb: repeated({ name: 'verb', value: 'VERB', read: text, help: 'allowed verbs, such as get,list,watch' }),
  resource: repeated({
    name: 'resource',
    value: 'TYPE',
    read: text,
    help: 'resource types, such as pods, deployments.apps, pods/log or *.apps',
  }),
  resourceName: repeated({
    name: 'resource-name',
    value: 'NAME',
    read: text,
    help: 'name of the object to which the rule is restricted',
  }),
}

export const createRoleCommand = defineGenerator({
  name: 'role',
  about: 'Create a role, which allows verbs on resource types in one namespace.',
  examples: ['orchctl create role reader --verb=get,list,watch --resource=pods,configmaps'],
  flags: ruleFlags,
  type: kinds.Role,
  make: async (options, invocation) => ({ rules: await rulesForTypes(options, invocation) }),
})

export const createClusterRoleCommand = defineGenerator({
  name: 'clusterrole',
  about: 'Create a cluster role, which allows verbs on resource types in the whole cluster, or on non-resource paths.',
  examples: [
    'orchctl create clusterrole reader --verb=get,list,watch --resource=pods',
    'orchctl create clusterrole all --aggregation-rule=part-of=all',
    'orchctl create clusterrole prober --verb=get --non-resource-url=/metrics',
  ],
  flags: {
    ...ruleFlags,
    nonResourceUrl: repeated({
      name: 'non-resource-url',
      value: 'PATH',
      read: text,
      help: 'non-resource path, such as /metrics',
    }),
    aggregationRule: flag({
      name: 'aggregation-rule',
      value: 'LABEL=VALUE,...',
      read: text,
      help: 'label selector for cluster roles; the new cluster role aggregates their rules instead of defining rules',
    }),
  },
  type: kinds.ClusterRole,
  make: async (options, invocation) => {
    if (options.aggregationRule !== '') {
      if (
        [options.verb, options.resource, options.nonResourceUrl, options.resourceName].some((list) => list.length > 0)
      )
        throw new UsageError('--aggregation-rule cannot be combined with --verb, --resource or other rule flags')
      const matchLabels = readPairs(options.aggregationRule, '--aggregation-rule')
      return { aggregationRule: { clusterRoleSelectors: [{ matchLabels }] } }
    }
    const paths = options.nonResourceUrl.flatMap((path) => path.split(','))
    if (paths.length === 0 && options.resource.length === 0)
      throw new UsageError('one of --resource and --non-resource-url must be specified')
    const ofTypes = options.resource.length === 0 ? [] : await rulesForTypes(options, invocation)
    const ofPaths = paths.length === 0 ? [] : [ruleForPaths(options, paths)]
    return { rules: [...ofTypes, ...ofPaths] }
  },
})
