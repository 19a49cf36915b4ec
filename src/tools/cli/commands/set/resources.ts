/** Implements `orchctl set resources`, which sets resource limits and requests of containers. */

import { isObject, type Json, type JsonObject } from '../../../../api/json/json.ts'
import { flag, text, UsageError } from '../../../../base/flags/flags.ts'
import { readAmounts } from '../../arguments/pairs.ts'
import { defineCommand } from '../../program/command.ts'
import { changeContainers, namesContainer, noSuchContainer, setFlags, setInObjects } from './pod-spec.ts'

export const setResourcesCommand = defineCommand({
  name: 'set resources',
  forms: ['(TYPE NAME | TYPE/NAME | -f FILE | TYPE -l SELECTOR | TYPE --all) (--limits=... | --requests=...) [flags]'],
  about: 'Set resource limits and requests of containers.',
  examples: [
    'orchctl set resources deployment/web --limits=cpu=200m,memory=512Mi --requests=cpu=100m',
    'orchctl set resources deployment/web -c nginx --limits=memory=1Gi',
  ],
  flags: {
    containers: flag({
      name: 'containers',
      letter: 'c',
      value: 'NAME',
      default: '*',
      read: text,
      help: 'names of the containers to change; * is a wildcard',
    }),
    limits: flag({
      name: 'limits',
      value: 'WHAT=AMOUNT,...',
      read: text,
      help: 'resource limits, such as cpu=200m,memory=512Mi',
    }),
    requests: flag({
      name: 'requests',
      value: 'WHAT=AMOUNT,...',
      read: text,
      help: 'resource requests, such as cpu=100m,memory=256Mi',
    }),
    ...setFlags,
  },
  run: async (context, { options, words }) => {
    const limits = readAmounts(options.limits, '--limits')
    const requests = readAmounts(options.requests, '--requests')
    if (limits === undefined && requests === undefined)
      throw new UsageError('you must specify an update to requests or limits (in the form of --requests/--limits)')
    const set = () => (object: Parameters<typeof changeContainers>[0]) => {
      const missing = noSuchContainer(object, options.containers)
      if (missing !== undefined) throw new UsageError(missing)
      return changeContainers(object, (container) => {
        if (!namesContainer(options.containers, container.name)) return container
        const before = isObject(container.resources) ? container.resources : {}
        const resources = {
          ...before,
          ...(limits && { limits: { ...membersOf(before.limits), ...limits } }),
          ...(requests && { requests: { ...membersOf(before.requests), ...requests } }),
        }
        return { ...container, resources }
      })
    }
    await setInObjects(context, { words, options }, { set, done: 'resource requirements updated' })
  },
})

function membersOf(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {}
}
