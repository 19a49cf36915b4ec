/** `orchctl top pods` and `top nodes`: what they use, as the metrics API of the cluster reports it. */
import { flag, type OptionsOf, oneOf, text, toggle, UsageError } from '../../../base/flags.ts'
import { collectionPath } from '../../../client/resource-type.ts'
import { isNotFound } from '../../../client/status-error.ts'
import type { ApiObject } from '../../../model/object.ts'
import { parseQuantity } from '../../../model/quantity.ts'
import { type Command, defineCommand } from '../../command.ts'
import { connectionFlags } from '../../connection-flags.ts'
import { Columns } from '../../printers/columns.ts'
import { escapeLine } from '../../printers/escape.ts'
import { type Session, withSession } from '../../session.ts'

const common = {
  selector: flag('l,selector', 'SELECTOR', '', text, 'only objects with these labels: a=b,c!=d,e in (f,g),h,!i'),
  sortBy: flag('sort-by', 'cpu|memory', '', oneOf(['', 'cpu', 'memory']), 'those that use most of it first'),
  noHeaders: toggle('no-headers', 'without the line of headings'),
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
  /** In thousandths of a core. */
  readonly cpu: number
  readonly memory: number
}

const podFlags = {
  allNamespaces: toggle('A,all-namespaces', 'in all namespaces'),
  containers: toggle('containers', 'of each container'),
  ...common,
}

export const topPodsCommand: Command = defineCommand({
  name: 'top pods',
  forms: ['[NAME] [flags]'],
  about: 'Shows how much processor time and memory pods use. The cluster must have the metrics API.',
  examples: ['orchctl top pods', 'orchctl top pods -A --sort-by=memory', 'orchctl top pod web --containers'],
  flags: podFlags,
  run: async (context, { options, words }) => {
    await withSession(context, options, async (session) => {
      const found = await read(session, 'pods', { words, options })
      const lead = options.allNamespaces ? ['NAMESPACE'] : []
      const rows = found.flatMap((pod) => podRows(pod, options))
      context.out(
        table([...lead, options.containers ? 'POD' : 'NAME', ...(options.containers ? ['NAME'] : [])], rows, options),
      )
    })
  },
})

export const topNodesCommand: Command = defineCommand({
  name: 'top nodes',
  forms: ['[NAME] [flags]'],
  about: 'Shows how much processor time and memory nodes use. The cluster must have the metrics API.',
  examples: ['orchctl top nodes', 'orchctl top node n1'],
  flags: common,
  run: async (context, { options, words }) => {
    await withSession(context, options, async (session) => {
      const found = await read(session, 'nodes', { words, options })
      const rows = found.map(({ metadata, usage }) => ({ name: [metadata.name ?? ''], ...usedOf([usage]) }))
      context.out(table(['NAME'], rows, options))
    })
  },
})

async function read(
  { client, namespace, context }: Session,
  plural: 'pods' | 'nodes',
  { words, options }: { words: readonly string[]; options: { selector: string; allNamespaces?: boolean } },
): Promise<readonly Metrics[]> {
  const [name, ...more] = words
  if (more.length > 0) throw new UsageError(`name one of the ${plural}, or none for all`)
  if (name !== undefined && options.selector !== '')
    throw new UsageError('only one of NAME or --selector can be provided')
  const type = { group: 'metrics.k8s.io', version: 'v1beta1', plural, namespaced: plural === 'pods' }
  const path = collectionPath(type, options.allNamespaces || plural === 'nodes' ? undefined : namespace)
  const call = {
    signal: context.signal,
    ...(options.selector !== '' && { query: { labelSelector: options.selector } }),
  }
  try {
    if (name !== undefined) return [await client.read<Metrics>(`${path}/${encodeURIComponent(name)}`, call)]
    return (await client.read<{ items?: Metrics[] }>(path, call)).items ?? []
  } catch (error) {
    if (name === undefined && isNotFound(error))
      throw new UsageError(
        'Metrics API not available: the cluster has no metrics.k8s.io; `orchctl top server` needs none',
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

function table(
  headings: readonly string[],
  rows: readonly Used[],
  { sortBy, noHeaders }: { sortBy: '' | 'cpu' | 'memory'; noHeaders: boolean },
): string {
  const sorted = sortBy === '' ? rows : rows.toSorted((a, b) => b[sortBy] - a[sortBy])
  const lines = sorted.map(({ name, cpu, memory }) => [
    ...name.map(escapeLine),
    `${cpu}m`,
    `${Math.floor(memory / 1024 ** 2)}Mi`,
  ])
  return new Columns().lines([...(noHeaders ? [] : [[...headings, 'CPU(cores)', 'MEMORY(bytes)']]), ...lines])
}
