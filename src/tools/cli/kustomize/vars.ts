/**
 * Implements variables: `$(NAME)` in commands, arguments, values and other fields is replaced with a field of another
 * object.
 */

import { isObject, type Json, type JsonObject, own, setKey } from '../../../api/json/json.ts'
import { UsageError } from '../../../base/flags/flags.ts'
import { changeAt, podSpecPath } from './fields.ts'
import { checkMembers, textIn } from './kustomization.ts'
import type { Resource } from './resource.ts'

export interface Variable {
  readonly entry: JsonObject
  /** Position of the variable in the kustomization file, for messages. */
  readonly place: string
}

/**
 * Replaces the variables that any of the kustomizations define. Runs last, because variables may refer to names that
 * change during the build.
 */
export function fillVariables(resources: readonly Resource[], variables: readonly Variable[]): void {
  const values = new Map<string, string>()
  for (const { entry, place } of variables) {
    checkMembers(entry, ['name', 'objref', 'fieldref'], place)
    const name = textIn(entry, 'name', place)
    if (values.has(name)) throw new UsageError(`${place}: duplicate variable ${JSON.stringify(name)}`)
    values.set(name, variableValue(resources, entry, place))
  }
  if (values.size === 0) return
  const fill = (value: Json) =>
    typeof value === 'string'
      ? value.replaceAll(/\$\$|\$\(([\w.-]+)\)/g, (text, name: string) =>
          text === '$$' ? '$' : (values.get(name) ?? text),
        )
      : undefined
  for (const { kind, object, metadata } of resources) {
    for (const path of pathsOf(kind)) changeAt(object, path, fill)
    for (const field of ['labels', 'annotations']) {
      const marks = own(metadata, field)
      if (isObject(marks)) for (const [key, mark] of Object.entries(marks)) setKey(marks, key, fill(mark!) ?? mark!)
    }
  }
}

function variableValue(resources: readonly Resource[], entry: JsonObject, place: string): string {
  const reference = own(entry, 'objref')
  if (!isObject(reference)) throw new UsageError(`${place}.objref is missing`)
  const kind = textIn(reference, 'kind', place)
  const name = textIn(reference, 'name', place)
  const namespace = textIn(reference, 'namespace', place)
  const matchingResources = resources.filter(
    (resource) =>
      resource.kind === kind &&
      resource.identities.some((one) => one.name === name && (namespace === '' || one.namespace === namespace)),
  )
  if (matchingResources.length !== 1)
    throw new UsageError(`${place}: ${matchingResources.length} objects match ${kind} ${name}: exactly one must match`)
  const field = own(entry, 'fieldref')
  const path = (isObject(field) && textIn(field, 'fieldpath', place)) || 'metadata.name'
  let value: Json | undefined = matchingResources[0]!.object
  for (const step of path.match(/[^.[\]]+/g) ?? [])
    value = Array.isArray(value) ? value[Number(step)] : isObject(value) ? own(value, step) : undefined
  if (value === undefined || value === null || typeof value === 'object')
    throw new UsageError(`${place}: ${kind} ${name} has no value at ${path}`)
  return String(value)
}

const inContainers = ['args', 'command', 'env/value', 'volumeMounts/mountPath']
const otherFieldPaths: { readonly [kind: string]: readonly string[] } = {
  Ingress: ['spec/rules/host', 'spec/tls/hosts', 'spec/tls/secretName'],
  Service: ['spec/ports/port', 'spec/ports/targetPort'],
  PersistentVolume: ['spec/nfs/server'],
}

function pathsOf(kind: string): string[] {
  const spec = podSpecPath(kind)
  const pods =
    spec === undefined
      ? []
      : [
          ...['containers', 'initContainers'].flatMap((list) => inContainers.map((path) => `${spec}/${list}/${path}`)),
          `${spec}/volumes/nfs/server`,
        ]
  return [...pods, ...(Object.hasOwn(otherFieldPaths, kind) ? otherFieldPaths[kind]! : [])]
}
