/** The sources of objects that users specify on the command line, and their texts. */

/** A file, a directory, a URL, `-` for standard input, or the directory of a kustomization. */
export type FileName = string | { readonly kustomize: string }

export interface Source {
  /** The name as the user wrote it. */
  readonly name: string
  readonly text: string
}
