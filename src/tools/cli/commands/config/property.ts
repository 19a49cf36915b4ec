/**
 * `orchctl config set` and `unset`: change one value in the kubeconfig by its path, such as `contexts.test.namespace`.
 */
import { readBoolean, toggle, UsageError } from '../../../../base/flags/flags.ts'
import {
  type EntrySort,
  isConfigured,
  removeEntry,
  setCurrentContext,
  setEntry,
  unsetCurrentContext,
} from '../../../../client/node/kubeconfig-edit.ts'
import { configFiles } from '../../connection/connect.ts'
import { escapeLine } from '../../printers/escape.ts'
import { defineCommand } from '../../program/command.ts'
import { configFlags } from './config-files.ts'

const flags = { kubeconfig: configFlags.kubeconfig }
const setFlags = {
  setRawBytes: toggle({
    name: 'set-raw-bytes',
    help: 'encode VALUE in base64, for fields whose name ends in -data',
  }),
  ...flags,
}

const fields: { readonly [S in EntrySort]: readonly string[] } = {
  cluster: [
    ...['server', 'tls-server-name', 'insecure-skip-tls-verify', 'certificate-authority', 'certificate-authority-data'],
    ...['proxy-url', 'disable-compression'],
  ],
  context: ['cluster', 'user', 'namespace'],
  user: [
    ...['client-certificate', 'client-certificate-data', 'client-key', 'client-key-data', 'token', 'tokenFile'],
    ...['username', 'password', 'as'],
  ],
}

const booleans = ['insecure-skip-tls-verify', 'disable-compression']

export const setPropertyCommand = defineCommand({
  name: 'config set',
  forms: ['PATH VALUE [flags]'],
  about:
    'Set one value in the kubeconfig. PATH is current-context, clusters.NAME.FIELD, contexts.NAME.FIELD or users.NAME.FIELD.',
  examples: ['orchctl config set contexts.test.namespace shop', 'orchctl config set current-context test'],
  flags: setFlags,
  run: async (context, { options, words }) => {
    const [path, value, ...more] = words
    if (path === undefined || value === undefined || more.length > 0) throw new UsageError('specify PATH and VALUE')
    const files = configFiles(context, options.kubeconfig)
    if (path === 'current-context') await setCurrentContext(files, value)
    else {
      const { sort, name, field } = readPath(path)
      if (field === '') throw new UsageError(`${path} is not a valid field: use ${sort}s.NAME.FIELD`)
      await setEntry(files, { sort, name, fields: { [field]: readValue(field, value, options) } })
    }
    context.out(`Property "${escapeLine(path)}" set.\n`)
  },
})

/**
 * Converts a value to its kubeconfig format. Throws UsageError if the field requires base64 and the value is not valid
 * base64.
 */
function readValue(field: string, value: string, { setRawBytes }: { setRawBytes: boolean }): string | boolean {
  if (booleans.includes(field)) return readBoolean(value)
  if (!field.endsWith('-data')) return value
  if (setRawBytes) return Buffer.from(value).toString('base64')
  const encoded = value.replaceAll(/[\r\n]/g, '')
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(encoded))
    throw new UsageError(`${field} must be base64-encoded; set --set-raw-bytes to let orchctl encode the value`)
  return encoded
}

export const unsetPropertyCommand = defineCommand({
  name: 'config unset',
  forms: ['PATH [flags]'],
  about: 'Remove one value from the kubeconfig, or a whole cluster, context or user.',
  examples: ['orchctl config unset contexts.test.namespace', 'orchctl config unset users.test'],
  flags,
  run: async (context, { options, words }) => {
    const [path, ...more] = words
    if (path === undefined || more.length > 0)
      throw new UsageError('specify one property, such as contexts.NAME.namespace')
    const files = configFiles(context, options.kubeconfig)
    if (path === 'current-context') await unsetCurrentContext(files)
    else {
      const { sort, name, field } = readPath(path)
      if (field === '') await removeEntry(files, { sort, name })
      else if (isConfigured(files, { sort, name }))
        await setEntry(files, { sort, name, fields: { [field]: undefined } })
      else throw new UsageError(`no ${sort} ${JSON.stringify(name)} in ${files.join(', ')}`)
    }
    context.out(`Property "${escapeLine(path)}" unset.\n`)
  },
})

interface Place {
  readonly sort: EntrySort
  readonly name: string
  /** Name of the field, or '' for the whole entry. */
  readonly field: string
}

/**
 * Splits a path. Names may contain dots, so the part after the last dot is a field only if it is a known field name.
 */
function readPath(path: string): Place {
  const dot = path.indexOf('.')
  const sort = (Object.keys(fields) as EntrySort[]).find((entrySort) => `${entrySort}s` === path.slice(0, dot))
  const rest = path.slice(dot + 1)
  if (dot < 0 || sort === undefined || rest === '')
    throw new UsageError(`${JSON.stringify(path)} must be current-context or begin with clusters., contexts. or users.`)
  const last = rest.lastIndexOf('.')
  const field = rest.slice(last + 1)
  return last > 0 && fields[sort].includes(field)
    ? { sort, name: rest.slice(0, last), field }
    : { sort, name: rest, field: '' }
}
