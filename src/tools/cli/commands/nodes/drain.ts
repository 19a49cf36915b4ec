/**
 * Implements `orchctl drain`, which cordons nodes and evicts their pods, subject to pod disruption budgets.
 * `drained-pods.ts` decides which pods may be evicted. If any pod on a node must not be evicted, none of the node's
 * pods are evicted.
 */

import { pause } from '../../../../base/concurrency/abort.ts'
import { flag, type OptionsOf, text, toggle, UsageError } from '../../../../base/flags/flags.ts'
import * as kinds from '../../../../client/requests/built-in-kinds.ts'
import { objectPath } from '../../../../client/requests/resource-type.ts'
import { isNotFound, StatusError } from '../../../../client/requests/status-error.ts'
import { readCount, readSeconds } from '../../arguments/numbers.ts'
import { chunkSizeFlag, findSubjects } from '../../arguments/subjects.ts'
import { inBulk } from '../../changes/bulk.ts'
import { withTypedSession } from '../../changes/remove-nulls.ts'
import { dryRunNote } from '../../changes/report-write.ts'
import { isGone, waitFor } from '../../changes/wait-for.ts'
import { readTime } from '../../connection/connection-flags.ts'
import type { Session } from '../../connection/session.ts'
import { escapeLine } from '../../printers/escape.ts'
import { defineCommand } from '../../program/command.ts'
import { nodeFlags, nodeWords, setSchedulable } from './cordon.ts'
import { choosePods, type DrainedPod } from './drained-pods.ts'

const flags = {
  force: toggle({ name: 'force', help: 'also evict pods that no controller will recreate' }),
  ignoreDaemonSets: toggle({ name: 'ignore-daemonsets', help: 'ignore pods managed by daemon sets' }),
  deleteEmptyDirData: toggle({
    name: 'delete-emptydir-data',
    help: 'also evict pods with emptyDir volumes, whose data is lost',
  }),
  deleteLocalData: toggle({ name: 'delete-local-data', help: 'deprecated alias for --delete-emptydir-data' }),
  disableEviction: toggle({
    name: 'disable-eviction',
    help: 'delete pods instead of evicting them, bypassing pod disruption budgets',
  }),
  chunkSize: chunkSizeFlag,
  podSelector: flag({ name: 'pod-selector', value: 'SELECTOR', read: text, help: 'label selector for pods to evict' }),
  gracePeriod: flag({
    name: 'grace-period',
    value: 'SECONDS',
    default: '-1',
    read: readSeconds,
    help: 'grace period in seconds for pods to terminate; -1 uses the grace period of each pod',
  }),
  skipWaitForDeleteTimeout: flag({
    name: 'skip-wait-for-delete-timeout',
    value: 'SECONDS',
    default: '0',
    read: readCount,
    help: 'skip waiting for pods whose deletion started more than this number of seconds ago; 0 waits for all pods',
  }),
  timeout: flag({
    name: 'timeout',
    value: 'TIME',
    default: '0',
    read: readTime,
    help: 'maximum time to wait for each pod; 0 for no limit',
  }),
  ...nodeFlags,
}

type Options = OptionsOf<typeof flags>

export const drainCommand = defineCommand({
  name: 'drain',
  forms: ['(NODE... | -l SELECTOR) [flags]'],
  about:
    'Prepare nodes for maintenance: mark the nodes as unschedulable and evict their pods. To make the nodes schedulable again, run `orchctl uncordon`.',
  examples: ['orchctl drain n1 --ignore-daemonsets', 'orchctl drain n1 --force --grace-period=30 --timeout=5m'],
  flags,
  run: async (context, { options, words }) => {
    const nodes = nodeWords('drain', words, options)
    await withTypedSession(context, options, async (session) => {
      await setSchedulable(session, nodes, { options, schedulable: false })
      const nodeOptions = {
        ...options,
        filename: [],
        recursive: false,
        fieldSelector: '',
        all: false,
        allNamespaces: false,
      }
      for (const { name } of await findSubjects(session, nodes, nodeOptions))
        await drainNode(session, name.name, options)
    })
  },
})

async function drainNode(session: Session, node: string, options: Options): Promise<void> {
  const { context } = session
  const deleteEmptyDirData = options.deleteEmptyDirData || options.deleteLocalData
  const { pods, refusals, warnings } = await choosePods(session, node, { ...options, deleteEmptyDirData })
  if (refusals.length > 0) throw new UsageError(`unable to drain node ${JSON.stringify(node)}: ${refusals.join('; ')}`)
  if (warnings.length > 0) context.err(`WARNING: ${warnings.map(escapeLine).join('; ')}\n`)
  await inBulk(context, pods, { sortOf: () => 'pod', done: 'evicted', act: (pod) => removePod(session, pod, options) })
  context.out(`node/${escapeLine(node)} drained${dryRunNote(options.dryRun)}\n`)
}

/** Evicts or deletes a pod. Resolves, once the pod no longer exists, with the message to print. */
async function removePod(session: Session, { metadata }: DrainedPod, options: Options): Promise<string> {
  const { context } = session
  const name = { namespace: metadata.namespace ?? '', name: metadata.name ?? '' }
  const how = options.disableEviction ? ['deleting', 'deleted'] : ['evicting', 'evicted']
  context.out(`${how[0]} pod ${escapeLine(`${name.namespace}/${name.name}`)}${dryRunNote(options.dryRun)}\n`)
  if (options.dryRun === 'client') return ''
  await askToLeave(session, name, options)
  if (options.dryRun === 'server') return ''
  const subject = {
    type: { ...kinds.Pod, kind: 'Pod', verbs: [], shortNames: [], singular: 'pod', categories: [] },
    name,
  }
  await waitFor(session, subject, {
    until: isGone(metadata.uid),
    timeoutMs: options.timeout || Number.MAX_SAFE_INTEGER,
  })
  return `pod/${escapeLine(name.name)} ${how[1]}\n`
}

const retryMs = 5_000

/** Evicts a pod. If a pod disruption budget forbids the eviction, retries until the timeout expires. */
async function askToLeave(
  { client, context }: Session,
  name: { namespace: string; name: string },
  { disableEviction, dryRun, gracePeriod, timeout }: Options,
): Promise<void> {
  const { signal } = context
  const grace = gracePeriod < 0 ? {} : { gracePeriodSeconds: gracePeriod }
  const dry = dryRun === 'server' ? { dryRun: ['All'] } : {}
  const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: name, deleteOptions: { ...grace, ...dry } }
  const end = timeout === 0 ? Number.POSITIVE_INFINITY : Date.now() + timeout
  for (;;) {
    try {
      if (disableEviction)
        await client.delete(kinds.Pod, name, { ...grace, ...(dryRun === 'server' ? { dryRun: true } : {}), signal })
      else await client.open({ method: 'POST', path: objectPath(kinds.Pod, name, 'eviction'), body, signal })
      return
    } catch (error) {
      if (isNotFound(error)) return
      if (!(error instanceof StatusError)) throw error
      const doing = `error when ${disableEviction ? 'deleting' : 'evicting'} pods/${JSON.stringify(name.name)} -n ${JSON.stringify(name.namespace)}`
      const isLate = Date.now() + retryMs > end
      if (error.code !== 429 || isLate) {
        const message = `${doing}${isLate ? ' (the timeout is reached)' : ''}: ${error.message}`
        throw new StatusError({ ...error.status, message }, error.request)
      }
      context.err(`${doing} (will retry after 5s): ${escapeLine(error.message)}\n`)
      await pause(retryMs, signal)
    }
  }
}
