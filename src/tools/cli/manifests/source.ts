/** Sources of objects that users name, and their texts. */

/** A file, directory or URL, `-`, or the directory of a kustomization. */
export type FileName = string | { readonly kustomize: string }

export interface Source {
  /** Name as the user wrote it. */
  readonly name: string
  readonly text: string
}
