/** Declares imports that the bundler resolves: styles, and images as URLs. */
declare module '*.css'
declare module '*.svg' {
  const address: string
  export default address
}
