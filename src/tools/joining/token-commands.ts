/** Implements `orch token create|list|delete`, which manages the bootstrap tokens that nodes use to join a cluster. */

import { randomInt, X509Certificate } from 'node:crypto'
import {
  bootstrapTokenType,
  joinGroup,
  tokenEnd,
  tokenForm,
  tokenGroupForm,
  tokenNodeName,
  tokenSecretName,
} from '../../api/model/bootstrap-token.ts'
import { groupName, profileNames, type Vendor, vendorOf } from '../../api/model/vendor.ts'
import { type Flags, flag, type OptionsOf, parseCommandLine, text, toggle, UsageError } from '../../base/flags/flags.ts'
import { parseDuration } from '../../base/time/duration.ts'
import { parserFor } from '../../client/node/config-parser.ts'
import { HttpTransport, type HttpTransportOptions } from '../../client/node/http-transport.ts'
import { readClientConfig } from '../../client/node/kubeconfig.ts'
import { processEnvironment, usualFiles } from '../../client/node/kubeconfig-files.ts'
import * as kinds from '../../client/requests/built-in-kinds.ts'
import { Client } from '../../client/requests/client.ts'
import { isNotFound } from '../../client/requests/status-error.ts'
import { pinsOf } from './cluster-info.ts'
import { JoinError } from './join-error.ts'
import { readNodeName } from './node-name.ts'

const namespace = 'kube-system'
const alphabet = 'abcdefghijklmnopqrstuvwxyz0123456789'

const connectionFlags = {
  kubeconfig: flag({
    name: 'kubeconfig',
    value: 'FILE',
    read: text,
    help: "administrator's kubeconfig; defaults to the kubeconfig that orchctl uses",
  }),
}

const createFlags = {
  ...connectionFlags,
  ttl: flag({
    name: 'ttl',
    value: 'TIME',
    default: '24h',
    read: readLife,
    help: 'lifetime of the token; with 0s, the token never expires',
  }),
  description: flag({
    name: 'description',
    value: 'TEXT',
    read: text,
    help: 'description of the purpose of the token',
  }),
  groups: flag({
    name: 'groups',
    value: 'NAMES',
    default: joinGroup,
    read: readGroups,
    help: 'groups of the users who authenticate with the token, separated by commas',
  }),
  nodeName: flag({
    name: 'node-name',
    value: 'NAME',
    read: readNodeName,
    help: 'name of the node that may join with the token; by default, any node may join',
  }),
  quiet: toggle({ name: 'quiet', letter: 'q', help: 'print only the token instead of the join command' }),
}

/** Flags of `orch token`, grouped as in its help text. */
export const tokenFlagGroups: { readonly [title: string]: Flags } = {
  'orch token create': createFlags,
  'orch token list and delete': connectionFlags,
}

/** Implements `orch token`. Throws UsageError or JoinError. */
export async function tokenCommand(args: readonly string[], print: (line: string) => void): Promise<void> {
  const [verb, ...rest] = args
  if (verb === 'create') {
    const { options, words } = parseCommandLine(createFlags, rest)
    const [statedToken, ...more] = words
    if (more.length > 0) throw new UsageError('orch token create accepts at most one token')
    if (statedToken !== undefined && !tokenForm.test(statedToken))
      throw new UsageError('a token must have the form abcdef.0123456789abcdef')
    return await withCluster(options, (cluster) =>
      createToken(cluster, { ...options, token: statedToken ?? newToken() }, print),
    )
  }
  if (verb !== 'list' && verb !== 'delete') throw new UsageError('use orch token create, list or delete')
  const { options, words } = parseCommandLine(connectionFlags, rest)
  if (verb === 'list') return await withCluster(options, (cluster) => listTokens(cluster, print))
  if (words.length === 0) throw new UsageError('orch token delete requires a token ID, as shown by orch token list')
  await withCluster(options, async (cluster) => {
    for (const word of words) await deleteToken(cluster, word, print)
  })
}

interface Cluster {
  readonly client: Client
  readonly vendor: Vendor
  readonly config: HttpTransportOptions
}

async function withCluster(
  { kubeconfig }: { readonly kubeconfig: string },
  use: (cluster: Cluster) => Promise<void>,
): Promise<void> {
  const files = kubeconfig === '' ? usualFiles(processEnvironment()) : [kubeconfig]
  const { transport: config } = readClientConfig({ files, parse: await parserFor(files) })
  const transport = new HttpTransport(config)
  try {
    const client = new Client(transport.send, { userAgent: 'orch-token' })
    await use({ client, config, vendor: await vendorAt(client) })
  } finally {
    transport.close()
  }
}

async function vendorAt(client: Client): Promise<Vendor> {
  const { groups } = await client.read<{ groups: { name: string }[] }>('/apis')
  const names = new Set(groups.map(({ name }) => name))
  const vendor = profileNames.map(vendorOf).find((each) => names.has(groupName(each, 'certificates')))
  if (vendor === undefined) throw new JoinError("the server's API groups match no known profile")
  return vendor
}

type CreateOptions = OptionsOf<typeof createFlags> & { readonly token: string }

async function createToken(
  { client, vendor, config }: Cluster,
  { token, ttl, description, groups, nodeName, quiet }: CreateOptions,
  print: (line: string) => void,
): Promise<void> {
  const [id = '', secret = ''] = token.split('.')
  const end = ttl === 0 ? {} : { expiration: new Date(Date.now() + ttl).toISOString().replace(/\.\d+/, '') }
  const stringData = {
    'token-id': id,
    'token-secret': secret,
    ...end,
    'usage-bootstrap-authentication': 'true',
    'usage-bootstrap-signing': 'true',
    ...(description === '' ? {} : { description }),
    ...(groups === '' ? {} : { 'auth-extra-groups': groups }),
    ...(nodeName === '' ? {} : { [tokenNodeName]: nodeName }),
  }
  const metadata = { namespace, name: tokenSecretName(id) }
  const type = bootstrapTokenType(vendor)
  await client.create(kinds.Secret, { apiVersion: 'v1', kind: 'Secret', metadata, type, stringData })
  print(quiet ? token : joinCommand(config, token, nodeName || 'NAME'))
}

function joinCommand({ server, authority }: HttpTransportOptions, token: string, nodeName: string): string {
  const pins = authority !== undefined && isCertificate(authority) ? pinsOf(authority) : []
  const hashes = pins.map((pin) => ` --ca-cert-hash ${pin}`).join('')
  return `orch join --server ${server} --token ${token}${hashes} --node-name ${nodeName} --kubeconfig FILE`
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0
  } catch {
    return false
  }
}

function newToken(): string {
  const word = (length: number) => Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join('')
  return `${word(6)}.${word(16)}`
}

async function listTokens({ client, vendor }: Cluster, print: (line: string) => void): Promise<void> {
  const { items } = await client.list(kinds.Secret, { namespace, fieldSelector: `type=${bootstrapTokenType(vendor)}` })
  const rows = items.map((secret) => {
    const read = (key: string) => Buffer.from(secret.data?.[key] ?? '', 'base64').toString()
    const usages = ['authentication', 'signing'].filter((usage) => read(`usage-bootstrap-${usage}`) === 'true')
    return [
      printable(read('token-id')),
      endText(read('expiration')),
      usages.join() || '<none>',
      printable(read('auth-extra-groups')),
      printable(read('description')),
    ]
  })
  const table = [['ID', 'EXPIRES', 'USAGES', 'GROUPS', 'DESCRIPTION'], ...rows]
  const widths = table[0]!.map((_, i) => Math.max(...table.map((row) => row[i]!.length)))
  for (const row of table)
    print(
      row
        .map((cell, i) => cell.padEnd(widths[i]!))
        .join('   ')
        .trimEnd(),
    )
}

function endText(expiration: string): string {
  const end = tokenEnd(expiration)
  if (end === Number.POSITIVE_INFINITY) return '<never>'
  return end <= Date.now() ? '<expired>' : expiration
}

/** Replaces control characters, because they could manipulate the terminal. */
function printable(value: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern matches control characters
  return value === '' ? '<none>' : value.replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, '?')
}

/** Deletes the token with the given ID. The whole token can also be given. */
async function deleteToken({ client }: Cluster, word: string, print: (line: string) => void): Promise<void> {
  const id = tokenForm.exec(word)?.[1] ?? word
  if (!/^[a-z0-9]{6}$/.test(id)) throw new UsageError('a token ID must consist of 6 characters from a-z and 0-9')
  try {
    await client.delete(kinds.Secret, { namespace, name: tokenSecretName(id) })
    print(`deleted token ${id}`)
  } catch (error) {
    if (isNotFound(error)) throw new JoinError(`token ${id} not found`)
    throw error
  }
}

function readLife(value: string): number {
  const ms = parseDuration(value)
  if (ms === undefined) throw new UsageError(`${JSON.stringify(value)} is not a duration: use a duration such as 24h`)
  return ms
}

function readGroups(value: string): string {
  const wrong = value.split(',').find((group) => group !== '' && !tokenGroupForm.test(group))
  if (wrong !== undefined) throw new UsageError(`${JSON.stringify(wrong)} does not begin with system:bootstrappers:`)
  return value
}
