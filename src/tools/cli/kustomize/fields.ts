/** Paths into objects, such as `spec/template/spec/containers/image`. A path applies to every element of a list. */
import { isObject, type Json, type JsonObject, own, setKey } from '../../../api/json/json.ts'

/**
 * Replaces each value at the path with the result of `change`. If `change` returns undefined, leaves the value as it
 * is.
 */
export function changeAt(object: Json | undefined, path: string, change: (value: Json) => Json | undefined): void {
  const steps = path.split('/')
  walk(object, steps.slice(0, -1), (parent) => {
    const name = steps.at(-1)!
    const value = own(parent, name)
    if (value === undefined) return
    const changed = Array.isArray(value) ? value.map((item) => change(item) ?? item) : change(value)
    if (changed !== undefined) setKey(parent, name, changed)
  })
}

/**
 * Calls `use` with each object at the path. With `create`, missing objects are created, except elements of missing
 * lists.
 */
export function objectsAt(
  object: Json | undefined,
  path: string,
  { create, use }: { create: boolean; use: (target: JsonObject) => void },
): void {
  if (create && isObject(object)) make(object, path.split('/'))
  walk(object, path.split('/'), use)
}

function make(object: JsonObject, [step, ...rest]: readonly string[]): void {
  if (step === undefined) return
  const name = withoutBrackets(step)
  if (name === step && (own(object, name) ?? null) === null) setKey(object, name, {})
  const inner = own(object, name)
  if (isObject(inner)) make(inner, rest)
  else if (Array.isArray(inner)) for (const item of inner) if (isObject(item)) make(item, rest)
}

function walk(value: Json | undefined, [step, ...rest]: readonly string[], use: (target: JsonObject) => void): void {
  if (Array.isArray(value)) for (const item of value) walk(item, step === undefined ? [] : [step, ...rest], use)
  else if (isObject(value)) {
    if (step === undefined) use(value)
    else walk(own(value, withoutBrackets(step)), rest, use)
  }
}

function withoutBrackets(step: string): string {
  return step.endsWith('[]') ? step.slice(0, -2) : step
}

const templates: { readonly [kind: string]: string } = {
  CronJob: 'spec/jobTemplate/spec/template',
  DaemonSet: 'spec/template',
  Deployment: 'spec/template',
  Job: 'spec/template',
  ReplicaSet: 'spec/template',
  ReplicationController: 'spec/template',
  StatefulSet: 'spec/template',
}

/** Returns the path to the pod template in this kind, or undefined if the kind has none. */
export function templatePath(kind: string): string | undefined {
  return Object.hasOwn(templates, kind) ? templates[kind] : undefined
}

/** Returns the path to the pod spec in this kind, or undefined if the kind has none. */
export function podSpecPath(kind: string): string | undefined {
  if (kind === 'Pod') return 'spec'
  const template = templatePath(kind)
  return template === undefined ? undefined : `${template}/spec`
}
