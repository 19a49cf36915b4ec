/**
 * Kubeconfigs for the users of a test server in three forms: an object, text and a file. Users authenticate with
 * tokens, which remain valid when the test advances the server's clock.
 */
import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stringifyYaml } from '../api/codec/write-yaml.ts'
import type { JsonObject } from '../api/json/json.ts'

/** A kubeconfig for one user of a test server, in three forms. */
export interface TestKubeconfig {
  /** The kubeconfig as an object, for `KubeConfig.loadFromOptions` and similar functions. */
  readonly object: KubeconfigObject
  /** The kubeconfig as YAML text. */
  readonly yaml: string
  /**
   * Path of the file, which only the current operating system user may read. The file is removed together with the
   * server.
   */
  readonly file: string
}

/** Content of a kubeconfig, as a JavaScript object. */
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

/** The values from which a test server creates the kubeconfig of a user. */
export interface KubeconfigParts {
  readonly server: string
  /** CA certificate in PEM format that verifies the server. */
  readonly authority: string
  readonly user: string
  readonly token: string
  /** Directory in which to create the file. */
  readonly directory: string
}

/** Returns a kubeconfig. Its text and its file are created on first use. */
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
