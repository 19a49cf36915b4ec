/** Implements `orchctl api-resources`, which lists the resource types that the server serves. */
import { flag, type OptionsOf, oneOf, readBoolean, refusedFlag, text, toggle } from '../../../base/flags/flags.ts'
import { type DiscoveredType, discover } from '../../../client/requests/discovery.ts'
import { typeName } from '../../../client/requests/resource-type.ts'
import { TransportError } from '../../../client/requests/transport.ts'
import { withConnection } from '../connection/connect.ts'
import { connectionFlags } from '../connection/connection-flags.ts'
import { Columns } from '../printers/columns.ts'
import { escapeLine } from '../printers/escape.ts'
import { defineCommand, refuseWords } from '../program/command.ts'
import { SeveralErrors } from '../program/explain-error.ts'

const anyGroup = '*'

const flags = {
  output: flag({
    name: 'output',
    letter: 'o',
    value: 'FORMAT',
    read: oneOf(['', 'wide', 'name']),
    help: 'output format: wide to include the verbs, or name to print only the names',
  }),
  namespaced: flag({
    name: 'namespaced',
    read: readWhether,
    help: 'list only namespaced types; if false, list only cluster-scoped types',
  }),
  apiGroup: flag({
    name: 'api-group',
    value: 'GROUP',
    default: anyGroup,
    read: text,
    help: 'list only types in the given API group; an empty value selects the core group',
  }),
  verbs: flag({
    name: 'verbs',
    value: 'VERB,...',
    read: readVerbs,
    help: 'list only types that support all of the given verbs, such as list,delete',
  }),
  sortBy: flag({
    name: 'sort-by',
    value: 'name|kind',
    read: oneOf(['', 'name', 'kind']),
    help: 'sort by name or kind; default: by group',
  }),
  noHeaders: toggle({ name: 'no-headers', help: 'omit the header line' }),
  cached: refusedFlag('cached', 'orchctl caches nothing: it queries the server each time', {
    accepted: 'false',
  }),
  ...connectionFlags,
}

type Options = OptionsOf<typeof flags>

export const apiResourcesCommand = defineCommand({
  name: 'api-resources',
  forms: ['[flags]'],
  about: "List the server's resource types, each in the preferred version of its group.",
  examples: ['orchctl api-resources', 'orchctl api-resources --namespaced=false -o name'],
  flags,
  run: async (context, { options, words }) => {
    refuseWords(words)
    const ask = async () => await withConnection(context, options, ({ client }) => discover(client, context))
    const { types, failures } = await ask()
    context.out(print(types.filter((type) => isWanted(type, options)).toSorted(orderOf(options)), options))
    if (failures.length > 0) throw new SeveralErrors(failures.map((failure) => new TransportError(failure)))
  },
})

function readWhether(value: string): boolean | undefined {
  return value === '' ? undefined : readBoolean(value)
}

function isWanted({ namespaced, group, verbs }: DiscoveredType, options: Options): boolean {
  if (verbs.length === 0) return false
  if (options.namespaced !== undefined && options.namespaced !== namespaced) return false
  if (!options.verbs.every((verb) => verbs.includes(verb))) return false
  return options.apiGroup === anyGroup || options.apiGroup === group
}

function readVerbs(value: string): string[] {
  return value === '' ? [] : value.split(',')
}

function orderOf({ sortBy }: Options): (a: DiscoveredType, b: DiscoveredType) => number {
  if (sortBy === '') return byGroupAndName
  const field = sortBy === 'kind' ? 'kind' : 'plural'
  return (a, b) => (a[field] === b[field] ? byGroupAndName(a, b) : a[field] < b[field] ? -1 : 1)
}

function byGroupAndName(a: DiscoveredType, b: DiscoveredType): number {
  const [left, right] = [a, b].map(({ group, plural }) => `${group} ${plural}`)
  return left! < right! ? -1 : 1
}

function print(types: readonly DiscoveredType[], { output, noHeaders }: Options): string {
  if (output === 'name') return types.map((type) => `${escapeLine(typeName(type))}\n`).join('')
  const wide = output === 'wide'
  const headings = ['NAME', 'SHORTNAMES', 'APIVERSION', 'NAMESPACED', 'KIND', ...(wide ? ['VERBS'] : [])]
  return new Columns().lines([...(noHeaders ? [] : [headings]), ...types.map((type) => rowOf(type, wide))])
}

function rowOf(
  { plural, shortNames, group, version, namespaced, kind, verbs }: DiscoveredType,
  wide: boolean,
): string[] {
  const apiVersion = group === '' ? version : `${group}/${version}`
  const cells = [plural, shortNames.join(','), apiVersion, String(namespaced), kind]
  return [...cells, ...(wide ? [`[${verbs.join(' ')}]`] : [])].map(escapeLine)
}
