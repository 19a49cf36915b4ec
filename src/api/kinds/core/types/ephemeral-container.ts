/** An EphemeralContainer is a container that is added to a running pod for debugging. */
import { at, child, type FieldError, type FieldPath, forbidden, required } from '../../../model/field-error.ts'
import { isSince, type RuleContext } from '../../../schema/context.ts'
import { field, type InferFields, inlined, s } from '../../../schema/schema.ts'
import { checkContainer, checkProbes, fillPullPolicy, ungatedFields } from './container.ts'

const common = inlined(1, ungatedFields)

const fields = {
  ...common,
  // Not required here: before 1.26, a missing name is reported for the whole container.
  name: { ...common.name, required: false, published: 'required' as const },
  targetContainerName: field(2, s.string(), {
    doc: "Name of the container whose process namespace this container joins. If unset, this container does not join another container's namespace.",
  }),
}

export type EphemeralContainer = InferFields<typeof fields>

const notForEphemeral = [
  'ports',
  'livenessProbe',
  'readinessProbe',
  'startupProbe',
  'lifecycle',
  'resizePolicy',
  'restartPolicy',
  'restartPolicyRules',
] as const

const unvalidatedParts = ['livenessProbe', 'readinessProbe', 'startupProbe', 'lifecycle']

export const ephemeralContainer = s.object(fields, {
  name: 'EphemeralContainer',
  doc: 'A container that is added to a running pod for debugging. Ephemeral containers are never restarted.',
  fill: fillPullPolicy,
  faultsAt: ephemeralPath,
  fieldsToSkip: (value, context) => {
    if (isSince('1.26', context)) return unvalidatedParts
    return isJudged(value, context) ? [] : Object.keys(fields)
  },
  check: (value, path, context) =>
    isSince('1.26', context)
      ? [
          ...(value.name ? [] : [required(child(path, 'name'))]),
          ...checkContainer(value, path, context),
          ...checkEphemeral(value, path),
        ]
      : checkEarlier(value, path, context),
})

/**
 * Whether an ephemeral container is validated. Versions before 1.26 do not validate an ephemeral container without a
 * name.
 */
export function isJudged({ name }: EphemeralContainer, context: RuleContext): boolean {
  return isSince('1.26', context) || (name !== undefined && name !== '')
}

/**
 * Returns the path for errors in an ephemeral container. Before 1.26, the path ends in `[0]`, because each ephemeral
 * container is validated as if it were in a list of its own.
 */
export function ephemeralPath(path: FieldPath, context: RuleContext): FieldPath {
  return isSince('1.26', context) ? path : at(path, 0)
}

/** Applies the rules of versions before 1.26, which also validate fields that are not allowed. */
function checkEarlier(value: EphemeralContainer, path: FieldPath, context: RuleContext): FieldError[] {
  if (!value.name) return [required(path, 'ephemeralContainer requires a name')]
  const place = ephemeralPath(path, context)
  return [...checkContainer(value, place, context), ...checkProbes(value, place), ...checkEphemeral(value, path)]
}

function checkEphemeral(value: EphemeralContainer, path: FieldPath): FieldError[] {
  const why = 'cannot be set for an Ephemeral Container'
  const resources = Object.keys(value.resources ?? {}).length > 0 ? ['resources'] : []
  const parts = (value.volumeMounts ?? []).flatMap((mount, i) =>
    (['subPath', 'subPathExpr'] as const)
      .filter((name) => mount[name])
      .map((name) => forbidden(child(at(child(path, 'volumeMounts'), i), name), why)),
  )
  const forbiddenFields = [...notForEphemeral.filter((name) => value[name] !== undefined), ...resources]
  return [...forbiddenFields.map((name) => forbidden(child(path, name), why)), ...parts]
}
