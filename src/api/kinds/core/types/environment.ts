/** The environment of a container: individual variables, and all keys of a ConfigMap or Secret. */
import { at, child, type FieldError, type FieldPath, invalid, notFound, required } from '../../../model/field-error.ts'
import {
  checkConfigKey,
  checkDnsSubdomain,
  checkEnvironmentName,
  checkRelaxedEnvironmentName,
} from '../../../model/names.ts'
import { isEnabled, type RuleContext } from '../../../schema/context.ts'
import { field, type InferFields, s } from '../../../schema/schema.ts'
import {
  checkFieldSelector,
  checkHostAddresses,
  checkResourceSelector,
  fieldsForEnvironment,
  objectFieldSelector,
  resourceFieldSelector,
} from './downward.ts'
import { inlinedReference } from './local-references.ts'
import { checkNoBacksteps } from './volumes/host-path.ts'

const keySelectorFields = {
  ...inlinedReference,
  key: field(2, s.string(), { zeroValue: 'write', doc: 'Key to select.' }),
  optional: field(3, s.boolean(), { zeroValue: 'keep', doc: 'Whether the object or the key may be missing.' }),
}

const configMapKeySelector = s.object(keySelectorFields, {
  name: 'ConfigMapKeySelector',
  doc: 'Selects a key of a ConfigMap.',
  atomic: true,
  check: checkKeySelector,
})

const secretKeySelector = s.object(keySelectorFields, {
  name: 'SecretKeySelector',
  doc: 'Selects a key of a Secret.',
  atomic: true,
  check: checkKeySelector,
})

const fileKeyFields = {
  volumeName: field(1, s.string(), { zeroValue: 'write', doc: 'Name of the volume that contains the file.' }),
  path: field(2, s.string(), { zeroValue: 'write', doc: 'Path of the file, relative to the root of the volume.' }),
  key: field(3, s.string(), { zeroValue: 'write', doc: 'Key to select from the file.' }),
  optional: field(4, s.boolean(), {
    zeroValue: 'keep',
    default: false,
    doc: 'Whether the file or the key may be missing. Defaults to false.',
  }),
}

const fileKeySelector = s.object(fileKeyFields, {
  name: 'FileKeySelector',
  doc: 'Selects a key from an environment file in a volume.',
  atomic: true,
  check: checkFileKey,
})

const sourceFields = {
  fieldRef: field(1, objectFieldSelector, { doc: 'Pod field that supplies the value of the variable.' }),
  resourceFieldRef: field(2, resourceFieldSelector, {
    doc: 'Resource request or limit that supplies the value of the variable.',
  }),
  configMapKeyRef: field(3, configMapKeySelector, { doc: 'ConfigMap key that supplies the value of the variable.' }),
  secretKeyRef: field(4, secretKeySelector, { doc: 'Secret key that supplies the value of the variable.' }),
  fileKeyRef: field(5, fileKeySelector, {
    since: '1.34',
    gate: 'EnvFiles',
    doc: 'Key in an environment file that supplies the value of the variable.',
  }),
}

type EnvVarSource = InferFields<typeof sourceFields>

const envVarSource = s.object(sourceFields, {
  name: 'EnvVarSource',
  doc: "Source of an environment variable's value. Exactly one field must be set.",
  check: checkSource,
})

const variableFields = {
  name: field(1, s.string(), { zeroValue: 'write', required: true, doc: 'Name of the environment variable.' }),
  value: field(2, s.string(), {
    doc: 'Value of the variable. References such as `$(NAME)` expand to variables that are defined earlier. `$$` stands for a literal `$`.',
  }),
  valueFrom: field(3, envVarSource, { doc: "Source of the variable's value. Mutually exclusive with `value`." }),
}

export type EnvVar = InferFields<typeof variableFields>

export const envVar = s.object(variableFields, {
  name: 'EnvVar',
  doc: 'An environment variable to set in a container.',
  check: checkVariable,
})

const wholeFields = {
  ...inlinedReference,
  optional: field(2, s.boolean(), { zeroValue: 'keep', doc: 'Whether the object may be missing.' }),
}
const configMapEnvSource = s.object(wholeFields, {
  name: 'ConfigMapEnvSource',
  doc: 'Selects all keys of a ConfigMap.',
  check: checkWholeSource,
})
const secretEnvSource = s.object(wholeFields, {
  name: 'SecretEnvSource',
  doc: 'Selects all keys of a Secret.',
  check: checkWholeSource,
})

const fromFields = {
  prefix: field(1, s.string(), {
    doc: 'Prefix that is added to each key to form the name of the environment variable.',
  }),
  configMapRef: field(2, configMapEnvSource, { doc: 'ConfigMap whose keys become environment variables.' }),
  secretRef: field(3, secretEnvSource, { doc: 'Secret whose keys become environment variables.' }),
}

export type EnvFromSource = InferFields<typeof fromFields>

export const envFromSource = s.object(fromFields, {
  name: 'EnvFromSource',
  doc: 'A ConfigMap or Secret whose keys all become environment variables. Either `configMapRef` or `secretRef` must be set.',
  check: ({ prefix = '' }, path, context) =>
    prefix === '' ? [] : checkVariableName(prefix, child(path, 'prefix'), context),
})

function checkVariableName(name: string, path: FieldPath, context: RuleContext): FieldError[] {
  const relaxed = isEnabled('RelaxedEnvironmentVariableValidation', context)
  const check = relaxed ? checkRelaxedEnvironmentName : checkEnvironmentName
  return check(name).map((text) => invalid(path, name, text))
}

function checkVariable({ name = '', value = '', valueFrom }: EnvVar, path: FieldPath, context: RuleContext) {
  const errors = name === '' ? [] : checkVariableName(name, child(path, 'name'), context)
  if (value === '' || valueFrom === undefined || Object.keys(valueFrom).length === 0) return errors
  return [...errors, invalid(child(path, 'valueFrom'), '', 'may not be specified when `value` is not empty')]
}

function checkSource(source: EnvVarSource, path: FieldPath, context: RuleContext): FieldError[] {
  const { fieldRef, resourceFieldRef } = source
  const count = Object.keys(source).length
  return [
    ...(fieldRef ? checkFieldSelector(fieldRef, fieldsForEnvironment(context), child(path, 'fieldRef')) : []),
    ...(fieldRef ? checkHostAddresses(fieldRef, child(path, 'fieldRef'), context) : []),
    ...(resourceFieldRef ? checkResourceSelector(resourceFieldRef, false, child(path, 'resourceFieldRef')) : []),
    ...(count === 1
      ? []
      : [invalid(path, '', count === 0 ? 'a source is required' : 'only one source may be specified')]),
  ]
}

function checkFileKey(
  { key = '', path: file = '', volumeName = '' }: InferFields<typeof fileKeyFields>,
  path: FieldPath,
  context: RuleContext,
): FieldError[] {
  return [
    ...(key === '' ? [required(child(path, 'key'))] : checkVariableName(key, child(path, 'key'), context)),
    ...(volumeName === '' ? [required(child(path, 'volumeName'))] : []),
    ...(file === '' ? [required(child(path, 'path'))] : checkNoBacksteps(file, child(path, 'path'))),
  ]
}

/** Requires an environment file to be in an emptyDir volume of the pod. */
export function checkFileKeys(
  env: readonly EnvVar[],
  volumes: ReadonlyMap<string, { readonly emptyDir?: unknown }>,
  path: FieldPath,
): FieldError[] {
  return env.flatMap(({ valueFrom: { fileKeyRef } = {} }, i) => {
    if (fileKeyRef === undefined) return []
    const { volumeName = '' } = fileKeyRef
    const place = child(at(path, i), 'valueFrom.fileKeyRef.volumeName')
    const volume = volumes.get(volumeName)
    if (volume === undefined) return [notFound(place, volumeName)]
    return volume.emptyDir === undefined
      ? [invalid(place, volumeName, 'referenced volume must be of type emptyDir')]
      : []
  })
}

function checkKeySelector({ name = '', key = '' }: InferFields<typeof keySelectorFields>, path: FieldPath) {
  const keyPath = child(path, 'key')
  return [
    ...checkDnsSubdomain(name).map((text) => invalid(child(path, 'name'), name, text)),
    ...(key === '' ? [required(keyPath)] : checkConfigKey(key).map((text) => invalid(keyPath, key, text))),
  ]
}

function checkWholeSource({ name = '' }: InferFields<typeof wholeFields>, path: FieldPath): FieldError[] {
  const place = child(path, 'name')
  if (name === '') return [required(place)]
  return checkDnsSubdomain(name).map((text) => invalid(place, name, text))
}

/**
 * Validates the sources of environment variables. If a variable has no source or more than one, the error is reported
 * for the list, as clients expect.
 */
export function checkEnvFrom(sources: readonly EnvFromSource[], path: FieldPath): FieldError[] {
  return sources.flatMap(({ configMapRef, secretRef }) => {
    if (configMapRef && secretRef) return [invalid(path, '', 'only one source may be specified')]
    return configMapRef || secretRef ? [] : [invalid(path, '', 'must specify one of: `configMapRef` or `secretRef`')]
  })
}
