/** Replaces the package `linkify-it` on the page: markdown-it creates one, but uses it only with `linkify: true`. */
export class LinkifyIt {}
