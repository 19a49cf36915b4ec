/**
 * Implements `orch join`, which writes a kubeconfig for a node agent. The user provides a token and the URL of a
 * server.
 */
import { existsSync } from 'node:fs'
import { tokenForm } from '../../api/model/bootstrap-token.ts'
import { createFile } from '../../base/files/files.ts'
import { flag, type OptionsOf, repeated, text, UsageError } from '../../base/flags/flags.ts'
import { parseDuration } from '../../base/time/duration.ts'
import { isServer } from '../../client/node/kubeconfig-cluster.ts'
import { adminKubeconfig } from '../../client/node/kubeconfig-write.ts'
import { trustCluster } from './cluster-info.ts'
import { JoinError } from './join-error.ts'
import { nodeCertificate } from './node-certificate.ts'
import { readNodeName } from './node-name.ts'

/** The flags of `orch join`. */
export const joinFlags = {
  server: flag({
    name: 'server',
    value: 'URL',
    read: readServer,
    help: 'URL of the API server, such as https://10.0.0.1:6443',
  }),
  token: flag({
    name: 'token',
    value: 'TOKEN',
    read: readToken,
    help: 'bootstrap token, as printed by `orch token create`',
  }),
  caCertHash: repeated({
    name: 'ca-cert-hash',
    value: 'HASH',
    read: readPin,
    help: 'hash of the public key of a cluster CA, as sha256:<hex>; the command trusts only CAs with this hash, so an attacker who knows the token cannot impersonate the cluster',
  }),
  nodeName: flag({
    name: 'node-name',
    value: 'NAME',
    read: readNodeName,
    help: 'name of the node in the cluster',
  }),
  kubeconfig: flag({
    name: 'kubeconfig',
    value: 'FILE',
    read: text,
    help: "file to write the node agent's kubeconfig to; the file must not exist yet",
  }),
  timeout: flag({
    name: 'timeout',
    value: 'TIME',
    default: '5m',
    read: readTimeout,
    help: 'maximum time to wait for the certificate',
  }),
}

type JoinOptions = OptionsOf<typeof joinFlags>

/** Implements `orch join`. Throws UsageError or JoinError. Reports progress through `say`. */
export async function join(options: JoinOptions, say: (line: string) => void): Promise<void> {
  for (const name of ['server', 'token', 'node-name', 'kubeconfig'] as const)
    if (options[name === 'node-name' ? 'nodeName' : name] === '') throw new UsageError(`--${name} is required`)
  const { server, kubeconfig, nodeName, caCertHash: pins } = options
  if (existsSync(kubeconfig)) throw new UsageError(`--kubeconfig: ${kubeconfig} already exists: choose another file`)
  const [id = '', secret = ''] = options.token.split('.')
  const token = { id, secret }
  const signal = AbortSignal.timeout(options.timeout)
  if (pins.length === 0) say('--ca-cert-hash is not set: anyone who knows the token could impersonate the cluster')
  const cluster = await trustCluster({ server, token, pins, signal })
  say('verified cluster-info with the bootstrap token')
  const onRequested = (name: string) => say(`requested a client certificate: ${name}`)
  const pair = await nodeCertificate(cluster, { server, token, nodeName, signal, onRequested })
  const name = cluster.vendor.profile === 'orch' ? 'orch' : `orch-${cluster.vendor.profile}`
  const config = { cluster: name, user: `system:node:${nodeName}`, server, authority: cluster.authority, ...pair }
  await createFile(kubeconfig, adminKubeconfig(config), 0o600).catch((error: unknown) => {
    throw new JoinError(`cannot write ${kubeconfig}: ${(error as Error).message}`)
  })
  say(`node ${nodeName} has joined: its kubeconfig is ${kubeconfig}`)
}

function readServer(value: string): string {
  if (value !== '' && !isServer(value)) throw new UsageError(`${JSON.stringify(value)} is not an https URL`)
  return value
}

/** Parses a token. The error message does not repeat an invalid token, because it may be a valid token with a typo. */
function readToken(value: string): string {
  if (value !== '' && !tokenForm.test(value))
    throw new UsageError(
      'a token must have the form abcdef.0123456789abcdef: 6 characters, a dot and 16 characters, all from a-z and 0-9',
    )
  return value
}

function readPin(value: string): string {
  const pin = value.toLowerCase()
  if (!/^sha256:[0-9a-f]{64}$/.test(pin))
    throw new UsageError('a hash must have the form sha256:<64 hexadecimal digits>')
  return pin
}

function readTimeout(value: string): number {
  const ms = parseDuration(value)
  if (ms === undefined || ms < 1000 || ms > 2 ** 31 - 1)
    throw new UsageError(`${JSON.stringify(value)} is not a duration from 1s to 24h: use a duration such as 5m`)
  return ms
}
