/**
 * Client configs for the users of a test server, in the three forms that programs take: an object, text, and a file.
 * Users prove who they are by tokens, which stay good however far the clock of the server is moved.
 */
import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stringifyYaml } from '../api/codec/write-yaml.ts'
import type { JsonObject } from '../api/json/json.ts'

/** A client config (kubeconfig) for one user of one test server. */
export interface TestKubeconfig {
  /** As an object, such as `KubeConfig.loadFromOptions` and its likes take. */
  readonly object: KubeconfigObject
  /** As text. */
  readonly yaml: string
  /** The name of a file that holds it, which only this user of the machine may read. It is removed with the server. */
  readonly file: string
}

/** What a kubeconfig says, as an object. */
export interface KubeconfigObject {
  readonly apiVersion: 'v1'
  readonly kind: 'Config'
  readonly clusters: readonly {
    readonly name: string
    readonly cluster: { readonly server: string; readonly 'certificate-authority-data': string }
  }[]
  readonly users: readonly { readonly name: string; readonly user: { readonly token: string } }[]
  readonly contexts: readonly {
    readonly name: string
    readonly context: { readonly cluster: string; readonly user: string; readonly namespace: string }
  }[]
  readonly 'current-context': string
}

/** What it is made of. */
export interface KubeconfigParts {
  readonly server: string
  /** PEM of the authority by which the server is verified. */
  readonly authority: string
  readonly user: string
  readonly token: string
  /** Where its file is put. */
  readonly directory: string
}

/** Text and file are made when they are first asked for. */
export function makeKubeconfig({ server, authority, user, token, directory }: KubeconfigParts): TestKubeconfig {
  const cluster = 'test'
  const object: KubeconfigObject = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: cluster,
        cluster: { server, 'certificate-authority-data': Buffer.from(authority).toString('base64') },
      },
    ],
    users: [{ name: user, user: { token } }],
    contexts: [{ name: cluster, context: { cluster, user, namespace: 'default' } }],
    'current-context': cluster,
  }
  let file: string | undefined
  return {
    object,
    get yaml() {
      return stringifyYaml(object as unknown as JsonObject)
    },
    get file() {
      file ??= write(join(directory, `${randomBytes(6).toString('hex')}.kubeconfig`), this.yaml)
      return file
    },
  }
}

function write(file: string, text: string): string {
  writeFileSync(file, text, { mode: 0o600, flag: 'wx' })
  return file
}
