/**
 * Provides one real manifest for every stored kind: `test/manifests/<group>.<plural>.yaml`, with the names of the
 * kubernetes profile. Certificate requests are created on demand rather than stored in a file.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseYaml } from '../../src/api/codec/yaml.ts'
import type { ApiObject } from '../../src/api/model/object.ts'
import type { ProfileName } from '../../src/api/model/vendor.ts'
import type { Kind } from '../../src/api/schema/kind.ts'
import { requestPem } from '../api/pki/encode.ts'
import { root } from './server.ts'

const directory = join(root, 'test/manifests')

/** Names of manifests, such as `apps.deployments`. */
export const manifestNames: readonly string[] = readdirSync(directory)
  .map((file) => file.replace(/\.yaml$/, ''))
  .sort()

/** Returns the name of the manifest of a kind, such as `rbac.roles` for the group `rbac.authorization`. */
export function manifestOf({ group, plural }: Kind): string {
  return `${group.split('.')[0]}.${plural}`
}

/** Returns the text of a manifest with the names of the given profile. */
export function manifest(name: string, profile: ProfileName): string {
  const text = readFileSync(join(directory, `${name}.yaml`), 'utf8').replace(
    'REQUEST',
    Buffer.from(requestPem()).toString('base64'),
  )
  return profile === 'kubernetes'
    ? text
    : text.replaceAll(/k8s\.io|kubernetes\.io/g, 'orch.io').replaceAll('x-kubernetes-', 'x-orch-')
}

export function manifestObject(name: string, profile: ProfileName): ApiObject {
  return parseYaml(Buffer.from(manifest(name, profile)), 1 << 20).value as unknown as ApiObject
}
