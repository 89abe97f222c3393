/**
 * 256 words, for keys that are compared by voice.
 *
 * tools/write_web_protocol.py writes this file from the code in src/holdfast.
 */

/** The word of each byte; what a key is called by them never changes. */
export const WORDS: readonly string[] = (
  "acorn album alley amber anchor angle ankle apple apron arrow attic autumn badge baker bamboo " +
  "banner barrel basket beacon beaver bench berry blanket bonnet bottle branch bridge bronze " +
  "brook brush bucket bugle butter cabin cactus camel candle canoe canyon carbon carpet carrot " +
  "castle cedar cellar cherry chimney cinema circle clover cobalt comet copper corner cotton " +
  "cradle crane cricket crystal dairy daisy dancer desert diamond dinner dolphin domino donkey " +
  "dragon drawer drummer dune dwarf eagle easel echo eclipse elbow ember engine evening fabric " +
  "falcon farmer feather fence ferry fiddle field finger flag flame flute forest fossil fountain " +
  "fox galaxy garden garlic ginger giraffe glacier glove goblet gravel guitar gutter hammer " +
  "harbor harvest hazel helmet heron hickory hill honey horizon hotel hunter icicle igloo indigo " +
  "inkwell iron island ivory jacket jaguar jasmine jelly jigsaw journey jungle kernel kettle " +
  "kitchen kitten knight ladder lagoon lantern lava leaf lemon leopard letter lily linen lizard " +
  "lobster locket lotus magnet mango maple marble meadow melon metal mirror mitten monkey moss " +
  "mountain museum napkin nectar needle nickel noodle north nutmeg oasis ocean olive onion orbit " +
  "orchid otter oven oyster paddle palace panda paper parrot pebble pencil pepper piano pigeon " +
  "pillow pilot planet pocket pony potato pumpkin puzzle quartz queen quilt rabbit radio raven " +
  "ribbon river robin rocket rooster ruby saddle salmon satin scarf shadow shelf silver sparrow " +
  "spider spruce squirrel summer sunset tablet teapot thimble thunder tiger timber tomato tower " +
  "trumpet tulip tunnel turtle umbrella uncle valley velvet village violin volcano waffle walnut " +
  "weasel whistle willow window winter wizard yacht yogurt zebra zipper"
).split(" ");
