/** A mutating policy with its compiled expressions, and the types of the objects that these expressions create. */
import type { FindStruct } from '../../../api/cel/checker.ts'
import type { DeclaredType } from '../../../api/cel/declared-type.ts'
import type { Compiling } from '../../../api/cel/policy-environment.ts'
import { types } from '../../../api/cel/types.ts'
import type { MutatingAdmissionPolicySpec } from '../../../api/kinds/admissionregistration/mutating-admission-policy.ts'
import { type CommonExpressions, compileConditions, type Expression, PolicyCompiler } from './compiled-policy.ts'

export interface CompiledMutation extends Expression {
  readonly patchType: 'ApplyConfiguration' | 'JSONPatch'
}

/** A mutating policy's expressions in compiled form. */
export interface CompiledMutatingPolicy extends CommonExpressions {
  readonly mutations: readonly CompiledMutation[]
}

/** Compiles the expressions of a mutating policy. Yields to other tasks between expressions. */
export function* compileMutatingPolicy(
  spec: MutatingAdmissionPolicySpec,
  compiling: Compiling,
): Generator<void, CompiledMutatingPolicy> {
  const conditions = yield* compileConditions(spec.matchConditions, compiling, { params: spec.paramKind !== undefined })
  const compiler = new PolicyCompiler(spec, compiling, findStruct)
  const variables = yield* compiler.variables(spec.variables)
  const mutations: CompiledMutation[] = []
  for (const { patchType, applyConfiguration, jsonPatch } of spec.mutations ?? []) {
    mutations.push(
      patchType === 'JSONPatch'
        ? { patchType, ...(yield* compiler.compile(jsonPatch?.expression ?? '', 'list(JSONPatch)')) }
        : {
            patchType: 'ApplyConfiguration',
            ...(yield* compiler.compile(applyConfiguration?.expression ?? '', 'Object')),
          },
    )
  }
  return { conditions, variables, mutations }
}

type Fields = ReadonlyMap<string, Pick<DeclaredType, 'type'>>

/** An object type in which every field exists, because a policy may match several kinds. */
class AnyFields extends Map<string, Pick<DeclaredType, 'type'>> {
  override get() {
    return { type: types.dyn }
  }
}

const anyFields: Fields = new AnyFields()
const operationFields: Fields = new Map([
  ['op', { type: types.string }],
  ['path', { type: types.string }],
  ['from', { type: types.string }],
  ['value', { type: types.dyn }],
])

/** Resolves the types `JSONPatch` and `Object`, and the types of the fields of `Object`, such as `Object.spec`. */
const findStruct: FindStruct = (name) => {
  if (name === 'JSONPatch') return { kind: 'object', fields: operationFields, name }
  return name === 'Object' || name.startsWith('Object.') ? { kind: 'object', fields: anyFields, name } : undefined
}
