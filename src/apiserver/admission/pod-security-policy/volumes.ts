/**
 * Checks the volumes of a pod against a policy, which allows volumes by type and restricts some types by path or
 * driver.
 */

import type { PodSpec } from '../../../api/kinds/core/types/pod-spec.ts'
import type { Volume } from '../../../api/kinds/core/types/volume.ts'
import { at, child, type FieldError, type FieldPath, invalid } from '../../../api/model/field-error.ts'
import { trimEndOf } from '../../../base/text/trim-end.ts'
import { containerLists, type PolicySpec } from './effective-settings.ts'

export function checkVolumes(policy: PolicySpec, spec: PodSpec): FieldError[] {
  return [...checkSources(policy, spec), ...checkMounts(policy, spec)]
}

function checkSources(policy: PolicySpec, { volumes = [] }: PodSpec): FieldError[] {
  return volumes.flatMap((volume, i) => {
    const path = at('spec.volumes', i)
    const kind = kindOf(volume)
    if (!isAllowed(policy, volume, kind)) return [invalid(path, kind, `${kind} volumes are not allowed to be used`)]
    return [
      ...checkHostPath(policy, volume, path),
      ...checkDriver(
        policy.allowedFlexVolumes?.map(({ driver }) => driver),
        volume.flexVolume?.driver,
        child(path, 'driver'),
      ),
      ...checkDriver(
        policy.allowedCSIDrivers?.map(({ name }) => name),
        volume.csi?.driver,
        child(path, 'csi.driver'),
      ),
    ]
  })
}

/**
 * Returns the volume's type under the name that policies use. Except for `cephFS`, this is the name of the volume's
 * field.
 */
function kindOf(volume: Volume): string {
  const field = Object.keys(volume).find((key) => key !== 'name') ?? 'unknown'
  return field === 'cephfs' ? 'cephFS' : field
}

function isAllowed({ volumes: allowed = [] }: PolicySpec, volume: Volume, kind: string): boolean {
  if (allowed.includes('*') || allowed.includes(kind)) return true
  return allowed.includes('secret') && isToken(volume)
}

/**
 * Service account tokens used to be mounted from Secrets. A policy that allows Secrets therefore also allows the
 * projected volume that replaced them.
 */
function isToken({ projected }: Volume): boolean {
  const sources = projected?.sources ?? []
  return (
    sources.length > 0 &&
    sources.every((source) => {
      const { serviceAccountToken, configMap, downwardAPI } = source
      const fields = downwardAPI?.items ?? []
      return (
        serviceAccountToken !== undefined ||
        configMap?.name === 'kube-root-ca.crt' ||
        (fields.length > 0 && fields.every(({ fieldRef }) => fieldRef?.fieldPath === 'metadata.namespace'))
      )
    })
  )
}

function checkHostPath(policy: PolicySpec, volume: Volume, path: FieldPath): FieldError[] {
  if (fittingPaths(policy, volume)?.length !== 0) return []
  return [invalid(child(path, 'hostPath.pathPrefix'), volume.hostPath?.path, 'is not allowed to be used')]
}

/** Returns the policy's entries that match a host path, or undefined if the policy does not restrict host paths. */
function fittingPaths({ allowedHostPaths: allowed = [] }: PolicySpec, { hostPath }: Volume) {
  if (hostPath === undefined || allowed.length === 0) return undefined
  return allowed.filter(({ pathPrefix = '' }) => isBelow(hostPath.path ?? '', pathPrefix))
}

function isBelow(path: string, prefix: string): boolean {
  const [inner, outer] = [path, prefix].map((text) => trimEndOf(text, '/')) as [string, string]
  return inner === outer || inner.startsWith(`${outer}/`)
}

/** Checks that read-only host paths are mounted read-only. */
function checkMounts(policy: PolicySpec, spec: PodSpec): FieldError[] {
  const isForReading = (volume: Volume) => fittingPaths(policy, volume)?.every(({ readOnly }) => readOnly) ?? false
  const names = new Set((spec.volumes ?? []).filter(isForReading).map(({ name }) => name))
  if (names.size === 0) return []
  return containerLists.flatMap((list) =>
    (spec[list] ?? []).flatMap(({ volumeMounts = [] }, i) =>
      volumeMounts.flatMap((mount, j) =>
        names.has(mount.name) && !mount.readOnly
          ? [invalid(`${at(child('spec', list), i)}.volumeMounts[${j}].readOnly`, false, 'must be read-only')]
          : [],
      ),
    ),
  )
}

function checkDriver(
  allowed: readonly (string | undefined)[] = [],
  driver: string | undefined,
  path: FieldPath,
): FieldError[] {
  if (driver === undefined || allowed.length === 0 || allowed.includes(driver)) return []
  return [invalid(path, driver, `is not an allowed driver; allowed drivers are ${allowed.join(', ')}`)]
}
