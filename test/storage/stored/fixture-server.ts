/**
 * Starts the server that writes and opens the fixtures of stored data (`test/data/stored/<version>`). Its encryption
 * key is derived from a fixed phrase, so that no key is committed. Its journal has no age limit, because fixtures are
 * kept for years.
 */
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { kindsOfVersion } from '../../../src/api/kinds/of-version.ts'
import { generateKey, keyToPem } from '../../../src/api/pki/keys.ts'
import type { Kind } from '../../../src/api/schema/kind.ts'
import { parseFlags } from '../../../src/base/flags/flags.ts'
import { startApiServer } from '../../../src/server/assembly/api-server.ts'
import { serverFlags } from '../../../src/server/flags/options.ts'
import { HttpClient } from '../../support/http-client.ts'
import { root, tokens } from '../../support/server.ts'
import { openTestLog } from '../../support/test-log.ts'

/** The kinds that Kubernetes 1.23 serves. */
const allKinds = kindsOfVersion('1.23')

/** The directory of fixtures, with one subdirectory for each version that wrote some. */
export const fixtures = join(root, 'test/data/stored')

const derive = (phrase: string) => createHash('sha256').update(phrase).digest()
const secret = derive('orch fixture').toString('base64')

/** The key for continue tokens, which every store contains. */
export const continueKey = derive('orch fixture continue tokens')

/** Encrypts one resource with each cipher. */
const encryption = {
  apiVersion: 'apiserver.config.orch.io/v1',
  kind: 'EncryptionConfiguration',
  resources: Object.entries({ secrets: 'aesgcm', serviceaccounts: 'secretbox', limitranges: 'aescbc' }).map(
    ([resource, cipher]) => ({
      resources: [resource],
      providers: [{ [cipher]: { keys: [{ name: 'fixture', secret }] } }],
    }),
  ),
}

/** A directory for one server, and the files that its flags name. */
export interface FixturePlace {
  readonly directory: string
  readonly dataDir: string
  readonly encryptionFlag: string
  remove(): void
}

export function newPlace(): FixturePlace {
  const directory = mkdtempSync(join(tmpdir(), 'orch-fixture-'))
  const dataDir = join(directory, 'data')
  mkdirSync(dataDir, { mode: 0o700 })
  writeFileSync(join(directory, 'tokens.csv'), tokens)
  writeFileSync(join(directory, 'encryption.json'), JSON.stringify(encryption))
  // With this file, the store contains no key for service account tokens.
  writeFileSync(join(directory, 'tokens.key'), keyToPem(generateKey()))
  return {
    directory,
    dataDir,
    encryptionFlag: `--encryption-provider-config=${join(directory, 'encryption.json')}`,
    remove: () => rmSync(directory, { recursive: true, force: true }),
  }
}

const century = 100 * 365 * 24 * 3_600_000

export interface FixtureServer {
  readonly client: HttpClient
  stop(): Promise<void>
}

export interface FixtureServerOptions {
  /** The members of etcd. If this list is empty, the store is in the data directory. */
  readonly etcdServers?: readonly string[]
  readonly kinds?: readonly Kind[]
}

export async function startFixtureServer(
  { directory, dataDir, encryptionFlag }: FixturePlace,
  { etcdServers = [], kinds = allKinds }: FixtureServerOptions = {},
): Promise<FixtureServer> {
  const flags = parseFlags(serverFlags, [
    '--secure-port=0',
    '--admin-kubeconfig=',
    `--data-dir=${dataDir}`,
    `--token-auth-file=${directory}/tokens.csv`,
    `--service-account-key-file=${directory}/tokens.key`,
    encryptionFlag,
    ...(etcdServers.length === 0 ? [] : [`--etcd-servers=${etcdServers.join()}`]),
  ])
  const options = { ...flags, historyRetention: { time: century, bytes: 2 ** 30 } }
  const server = await startApiServer(options, { log: openTestLog(), kinds })
  const ca = readFileSync(join(dataDir, 'pki/ca.crt'), 'utf8')
  const client = new HttpClient({ port: Number(new URL(server.url).port), token: 'admin-token', ca })
  return {
    client,
    stop: async () => {
      client.close()
      await server.stop()
    },
  }
}
