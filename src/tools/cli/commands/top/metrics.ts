/** Implements `orchctl top pods` and `top nodes`, which show the usage reported by the cluster's metrics API. */

import type { ApiObject } from '../../../../api/model/object.ts'
import { parseQuantity } from '../../../../api/model/quantity.ts'
import { flag, type OptionsOf, oneOf, refusedFlag, text, toggle, UsageError } from '../../../../base/flags/flags.ts'
import * as kinds from '../../../../client/requests/built-in-kinds.ts'
import { collectionPath } from '../../../../client/requests/resource-type.ts'
import { isNotFound, type StatusError } from '../../../../client/requests/status-error.ts'
import { withTypedSession } from '../../changes/remove-nulls.ts'
import { connectionFlags } from '../../connection/connection-flags.ts'
import type { Session } from '../../connection/session.ts'
import { Columns } from '../../printers/columns.ts'
import { escapeLine } from '../../printers/escape.ts'
import { type Command, defineCommand } from '../../program/command.ts'

const common = {
  selector: flag({
    name: 'selector',
    letter: 'l',
    value: 'SELECTOR',
    read: text,
    help: "label selector, such as app=web,tier!=cache or 'env in (dev,test)'",
  }),
  sortBy: flag({
    name: 'sort-by',
    value: 'cpu|memory',
    read: oneOf(['', 'cpu', 'memory']),
    help: 'sort by cpu or memory, highest usage first',
  }),
  noHeaders: toggle({ name: 'no-headers', help: 'omit the header line' }),
  useProtocolBuffers: refusedFlag('use-protocol-buffers', 'orchctl reads metrics as JSON', { accepted: 'false' }),
  ...connectionFlags,
}

interface Usage {
  readonly cpu?: string
  readonly memory?: string
}

interface Metrics extends ApiObject {
  readonly usage?: Usage
  readonly containers?: readonly { readonly name?: string; readonly usage?: Usage }[]
}

interface Used {
  readonly name: readonly string[]
  /** CPU usage or capacity in millicores. */
  readonly cpu: number
  readonly memory: number
  /** Allocatable resources or capacity of the node, if usage is also shown as a percentage. */
  readonly whole?: { readonly cpu: number; readonly memory: number }
}

const podFlags = {
  allNamespaces: toggle({ name: 'all-namespaces', letter: 'A', help: 'show pods in all namespaces' }),
  containers: toggle({ name: 'containers', help: 'show the usage of each container' }),
  fieldSelector: flag({
    name: 'field-selector',
    value: 'SELECTOR',
    read: text,
    help: 'field selector for pods, such as spec.nodeName=node-1',
  }),
  sum: toggle({ name: 'sum', help: 'also print the total usage' }),
  ...common,
}

const nodeFlags = {
  showCapacity: toggle({
    name: 'show-capacity',
    help: "show percentages of the node's capacity instead of its allocatable resources",
  }),
  ...common,
}

export const topPodsCommand: Command = defineCommand({
  name: 'top pods',
  forms: ['[NAME] [flags]'],
  about: 'Show CPU and memory usage of pods. Requires the metrics API in the cluster.',
  examples: ['orchctl top pods', 'orchctl top pods -A --sort-by=memory', 'orchctl top pod web --containers'],
  flags: podFlags,
  run: async (context, { options, words }) => {
    await withTypedSession(context, options, async (session) => {
      const measurements = await read(session, 'pods', { words, options })
      const lead = options.allNamespaces ? ['NAMESPACE'] : []
      const rows = sortByUsage(
        measurements.flatMap((pod) => podRows(pod, options)),
        options,
      )
      const headings = [...lead, ...(options.containers ? ['POD', 'NAME'] : ['NAME']), 'CPU(cores)', 'MEMORY(bytes)']
      const total = options.sum ? totalRows(rows, headings.length - 2) : []
      context.out(table(headings, [...rows.map(podCells), ...total], options))
    })
  },
})

export const topNodesCommand: Command = defineCommand({
  name: 'top nodes',
  forms: ['[NAME] [flags]'],
  about: 'Show CPU and memory usage of nodes. Requires the metrics API in the cluster.',
  examples: ['orchctl top nodes', 'orchctl top node n1', 'orchctl top nodes --show-capacity'],
  flags: nodeFlags,
  run: async (context, { options, words }) => {
    await withTypedSession(context, options, async (session) => {
      const measurements = await read(session, 'nodes', { words, options })
      const wholes = await nodeWholes(session, options)
      const rows = measurements.map(({ metadata: { name = '' }, usage }) => {
        const whole = wholes.get(name)
        return { name: [name], ...usedOf([usage]), ...(whole && { whole }) }
      })
      const measured = new Set(measurements.map(({ metadata }) => metadata.name))
      const silent = words.length > 0 ? [] : [...wholes.keys()].filter((name) => !measured.has(name))
      const cells = [...sortByUsage(rows, options).map(nodeCells), ...silent.map(unknownNode)]
      context.out(table(['NAME', 'CPU(cores)', 'CPU%', 'MEMORY(bytes)', 'MEMORY%'], cells, options))
    })
  },
})

interface Node extends ApiObject {
  readonly status?: { readonly allocatable?: Usage; readonly capacity?: Usage }
}

/** Returns the allocatable resources or the capacity of each node. */
async function nodeWholes(
  { client, context }: Session,
  { selector, showCapacity }: OptionsOf<typeof nodeFlags>,
): Promise<Map<string, { cpu: number; memory: number }>> {
  const selection = selector === '' ? {} : { labelSelector: selector }
  const { items } = await client.list(kinds.Node, { ...selection, signal: context.signal })
  return new Map(
    items.map(({ metadata, status = {} }: Node) => [
      metadata.name ?? '',
      usedOf([showCapacity ? status.capacity : status.allocatable]),
    ]),
  )
}

function nodeCells({ name, cpu, memory, whole }: Used): string[] {
  const share = (used: number, all = 0) => (all === 0 ? '<unknown>' : `${Math.floor((used * 100) / all)}%`)
  return [...name, `${cpu}m`, share(cpu, whole?.cpu), megabytes(memory), share(memory, whole?.memory)]
}

/** Returns the table row of a node without metrics. */
function unknownNode(name: string): string[] {
  return [name, ...Array<string>(4).fill('<unknown>')]
}

function podCells({ name, cpu, memory }: Used): string[] {
  return [...name, `${cpu}m`, megabytes(memory)]
}

/** Returns a row with the totals of the usage columns. */
function totalRows(rows: readonly Used[], columnsBefore: number): string[][] {
  const before = Array<string>(columnsBefore).fill('')
  const sum = (what: 'cpu' | 'memory') => rows.reduce((total, row) => total + row[what], 0)
  return [
    [...before, '________', '________'],
    [...before, `${sum('cpu')}m`, megabytes(sum('memory'))],
  ]
}

function megabytes(bytes: number): string {
  return `${Math.floor(bytes / 1024 ** 2)}Mi`
}

interface Choice {
  readonly selector: string
  readonly fieldSelector?: string
  readonly allNamespaces?: boolean
}

async function read(
  { client, namespace, context }: Session,
  plural: 'pods' | 'nodes',
  { words, options }: { words: readonly string[]; options: Choice },
): Promise<readonly Metrics[]> {
  const [name, ...more] = words
  if (more.length > 0) throw new UsageError(`specify one of the ${plural} by name, or omit the name to show all`)
  if (name !== undefined && options.selector !== '')
    throw new UsageError('only one of NAME or --selector can be provided')
  const type = { group: 'metrics.k8s.io', version: 'v1beta1', plural, namespaced: plural === 'pods' }
  const path = collectionPath(type, options.allNamespaces || plural === 'nodes' ? undefined : namespace)
  const call = {
    signal: context.signal,
    query: {
      ...(options.selector !== '' && { labelSelector: options.selector }),
      ...(options.fieldSelector && { fieldSelector: options.fieldSelector }),
    },
  }
  try {
    if (name !== undefined) return [await client.read<Metrics>(`${path}/${encodeURIComponent(name)}`, call)]
    return (await client.read<{ items?: Metrics[] }>(path, call)).items ?? []
  } catch (error) {
    // A 404 response without an object name means that the cluster serves no metrics API.
    if (isNotFound(error) && !(error as StatusError).status.details?.name)
      throw new UsageError(
        'Metrics API not available: the cluster does not serve metrics.k8s.io; `orchctl top server` works without it',
      )
    throw error
  }
}

function podRows({ metadata, containers = [] }: Metrics, options: OptionsOf<typeof podFlags>): Used[] {
  const lead = options.allNamespaces ? [metadata.namespace ?? ''] : []
  const name = metadata.name ?? ''
  if (!options.containers) return [{ name: [...lead, name], ...usedOf(containers.map(({ usage }) => usage)) }]
  return containers.map((container) => ({
    name: [...lead, name, container.name ?? ''],
    ...usedOf([container.usage]),
  }))
}

function usedOf(usages: readonly (Usage | undefined)[]): { cpu: number; memory: number } {
  const sum = (field: 'cpu' | 'memory', unit: number) =>
    usages.reduce((total, usage) => total + Number(parseQuantity(usage?.[field] ?? '0')?.nanos ?? 0n) / unit, 0)
  return { cpu: Math.ceil(sum('cpu', 1e6)), memory: sum('memory', 1e9) }
}

function sortByUsage(rows: readonly Used[], { sortBy }: { sortBy: '' | 'cpu' | 'memory' }): readonly Used[] {
  return sortBy === '' ? rows : rows.toSorted((a, b) => b[sortBy] - a[sortBy])
}

function table(headings: readonly string[], rows: readonly string[][], { noHeaders }: { noHeaders: boolean }): string {
  const lines = rows.map((row) => row.map(escapeLine))
  return new Columns().lines([...(noHeaders ? [] : [headings]), ...lines])
}
