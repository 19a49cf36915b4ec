/**
 * Loads the conformance tests of the CEL specification from the npm package `@bufbuild/cel-spec`. Only the data of the
 * package is used, because the types in the package require a Protobuf library.
 */

/** A value in the JSON form of `cel.expr.Value`, for example `{int64Value: '1'}`. */
export interface SpecValue {
  readonly [form: string]: unknown
}

/** A test case: an expression and its value, type or error. */
export interface SpecTest {
  readonly name: string
  readonly expr: string
  readonly value?: SpecValue
  readonly evalError?: { readonly errors?: readonly { readonly message?: string }[] }
  readonly typedResult?: { readonly result?: SpecValue; readonly deducedType?: object }
  readonly disableCheck?: boolean
  readonly checkOnly?: boolean
  readonly disableMacros?: boolean
  readonly container?: string
  readonly bindings?: { readonly [name: string]: { readonly value: SpecValue } }
  readonly typeEnv?: readonly {
    readonly name: string
    readonly ident?: { readonly type: SpecType }
    readonly function?: object
  }[]
}

/** A type in the JSON form of `cel.expr.Type`. */
export interface SpecType {
  readonly primitive?: string
  readonly wellKnown?: string
  readonly wrapper?: string
  readonly dyn?: object
  readonly null?: unknown
  readonly listType?: { readonly elemType?: SpecType }
  readonly mapType?: { readonly keyType?: SpecType; readonly valueType?: SpecType }
  readonly messageType?: string
  readonly abstractType?: { readonly name: string; readonly parameterTypes?: readonly SpecType[] }
  readonly type?: SpecType
}

interface Suite {
  readonly name: string
  readonly suites?: readonly Suite[]
  readonly tests?: readonly { readonly original: SpecTest }[]
}

/** A test case with its file and section. */
export interface PlacedTest {
  readonly file: string
  readonly section: string
  readonly spec: SpecTest
}

/**
 * Name of the imported module. It is declared as a `string` so that the compiler does not load the types of the
 * package.
 */
const data: string = '@bufbuild/cel-spec/testdata/conformance.js'

/** Returns the test cases of all files. */
export async function conformanceTests(): Promise<PlacedTest[]> {
  const { tests } = (await import(data)) as { readonly tests: Suite }
  return (tests.suites ?? []).flatMap((file) =>
    (file.suites ?? []).flatMap((section) =>
      (section.tests ?? []).map(({ original }) => ({ file: file.name, section: section.name, spec: original })),
    ),
  )
}
